// SPDX-License-Identifier: Apache-2.0
// Every strategy on every set of up to 5 documents of up to 6 tokens, against counts from the mask.
#include <gtest/gtest.h>

#include "core/sharding/key_value_exchange.h"
#include "sharding_setup.h"

namespace ballast::testing {
namespace {

/// Calls check(lengths) for every ordered list of 1 to `documents` lengths of 1 to `longest`.
template <class Check>
void forEveryLengthSet(int documents, std::int64_t longest, const Check& check) {
    std::vector<std::int64_t> lengths = {1};
    while (true) {
        check(lengths);
        std::size_t at = 0;
        while (at < lengths.size() && lengths[at] == longest)
            lengths[at++] = 1;
        if (at < lengths.size())
            ++lengths[at];
        else if (lengths.size() == static_cast<std::size_t>(documents))
            return;
        else
            lengths.push_back(1);
    }
}

/// Tokens that go from rank to rank, one by one from the mask: a key goes where a later query of its piece
/// is.
std::vector<std::int64_t> neededByTheMask(const std::vector<Piece>& pieces, const TokenRanks& tokens,
                                          std::size_t ranks) {
    std::vector<std::int64_t> needed(ranks * ranks);
    std::size_t start = 0;
    for (const Piece& piece : pieces) {
        auto length = static_cast<std::size_t>(piece.length());
        for (std::size_t key = 0; key < length; ++key)
            for (std::size_t to = 0; to < ranks; ++to) {
                auto from = static_cast<std::size_t>(tokens.rank[start + key]);
                bool attended = false;
                for (std::size_t query = key; query < length; ++query)
                    attended = attended || tokens.rank[start + query] == static_cast<int>(to);
                if (from != to && attended)
                    ++needed[from * ranks + to];
            }
        start += length;
    }
    return needed;
}

bool isRight(const std::vector<Piece>& pieces, const Sharding& sharding) {
    TokenRanks tokens = tokenRanks(pieces, sharding);
    for (int claims : tokens.claims)
        if (claims != 1)
            return false;
    std::vector<std::int64_t> counted = countedPairs(pieces, sharding);
    for (std::size_t rank = 0; rank < counted.size(); ++rank) {
        std::int64_t pairs = 0;
        for (const Slice& slice : sharding.ranks[rank])
            pairs += attentionPairs(slice.block());
        if (pairs != counted[rank])
            return false;
    }
    return neededTokens(sharding).tokens == neededByTheMask(pieces, tokens, sharding.ranks.size());
}

TEST(ExhaustiveSharding, CoversEveryTokenOnceAndCountsPairsAndNeedsAsTheMaskDoes) {
    for (int ranks = 1; ranks <= 4; ++ranks) {
        CostModel cost = tileCost({1, ranks, 1, 1});
        for (std::string_view strategy : sharderNames()) {
            auto sharder = makeSharder(strategy, ranks, cost);
            int sets = 0;
            forEveryLengthSet(5, 6, [&](const std::vector<std::int64_t>& lengths) {
                ++sets;
                std::vector<Piece> pieces = piecesOf(lengths);
                ASSERT_TRUE(isRight(pieces, sharder->shard(pieces)))
                    << strategy << " over " << ranks << ": " << ::testing::PrintToString(lengths);
            });
            EXPECT_EQ(sets, 6 + 36 + 216 + 1296 + 7776);
        }
    }
}

TEST(ExhaustiveSharding, DoesSoForHostileAndRandomSetsWhateverTheExchange) {
    for (std::string_view exchange : {"all-gather", "need-based"})
        for (int ranks : {2, 3, 8}) {
            CostModel cost = exchangeCost(ranks, exchange);
            for (std::string_view strategy : sharderNames()) {
                auto sharder = makeSharder(strategy, ranks, cost);
                std::vector<std::vector<std::int64_t>> sets = hostilePackings();
                for (std::uint64_t seed = 0; seed < 40; ++seed)
                    sets.push_back(randomPacking(seed));
                for (const std::vector<std::int64_t>& lengths : sets) {
                    std::vector<Piece> pieces = piecesOf(lengths);
                    EXPECT_TRUE(isRight(pieces, sharder->shard(pieces)))
                        << strategy << " over " << ranks << ": " << ::testing::PrintToString(lengths);
                }
            }
        }
}

}  // namespace
}  // namespace ballast::testing
