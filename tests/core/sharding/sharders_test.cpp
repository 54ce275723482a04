// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/job/scenario_names.h"
#include "core/sharding/adaptive_sharder.h"
#include "core/sharding/sharding_cost.h"
#include "core/sharding/striped_sharder.h"
#include "sharding_setup.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const CostModel& cost() {
    static const CostModel model = tileCost({1, 2, 1, 2});
    return model;
}

std::vector<std::int64_t> pairsOf(const Sharding& sharding) {
    std::vector<std::int64_t> pairs;
    for (const ShardFigures& figures : shardFigures(sharding, cost()))
        pairs.push_back(figures.pairs);
    return pairs;
}

std::vector<std::int64_t> tokensOf(const Sharding& sharding) {
    std::vector<std::int64_t> tokens;
    for (const Shard& shard : sharding.ranks)
        tokens.push_back(shardTokens(shard));
    return tokens;
}

Sharding shardedBy(std::string_view strategy, int ranks, const std::vector<std::int64_t>& lengths) {
    return makeSharder(strategy, ranks, cost())->shard(piecesOf(lengths));
}

/// Slices lie inside their pieces, keep packed order within a rank, and are joined where they touch.
void expectOrderedSlices(const std::vector<Piece>& pieces, const Sharding& sharding) {
    for (const Shard& shard : sharding.ranks)
        for (std::size_t i = 0; i < shard.size(); ++i) {
            const Piece& piece = pieces[static_cast<std::size_t>(shard[i].document)];
            EXPECT_LT(shard[i].begin, shard[i].end);
            EXPECT_GE(shard[i].begin, piece.begin);
            EXPECT_LE(shard[i].end, piece.end);
            EXPECT_EQ(shard[i].pieceBegin, piece.begin);
            EXPECT_EQ(shard[i].pieceEnd, piece.end);
            if (i == 0)
                continue;
            EXPECT_LE(shard[i - 1].document, shard[i].document);
            EXPECT_TRUE(shard[i - 1].document < shard[i].document || shard[i - 1].end < shard[i].begin);
        }
}

std::int64_t largestTokenDifference(const Sharding& sharding) {
    if (sharding.strategy == "striped")
        return kStripeTokens;
    // A rank of per-sequence has two chunks, each at most a token from the exact share; mixed may return it.
    return sharding.strategy == "per-document" || sharding.strategy == "contiguous" ? 1 : 2;
}

void checkConservation(std::string_view strategy, int ranks, const std::vector<std::int64_t>& lengths) {
    SCOPED_TRACE(std::string(strategy) + " over " + std::to_string(ranks) + " ranks, " +
                 std::to_string(lengths.size()) + " pieces");
    std::vector<Piece> pieces = piecesOf(lengths);
    Sharding sharding = makeSharder(strategy, ranks, cost())->shard(pieces);
    ASSERT_EQ(sharding.ranks.size(), static_cast<std::size_t>(ranks));
    TokenRanks tokens = tokenRanks(pieces, sharding);
    EXPECT_TRUE(std::all_of(tokens.claims.begin(), tokens.claims.end(), [](int n) { return n == 1; }));
    expectOrderedSlices(pieces, sharding);
    EXPECT_EQ(pairsOf(sharding), countedPairs(pieces, sharding));

    std::vector<std::int64_t> counts = tokensOf(sharding);
    auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*most - *least, largestTokenDifference(sharding));
    std::vector<ShardFigures> figures = shardFigures(sharding, cost());
    std::int64_t in = 0;
    std::int64_t out = 0;
    for (std::size_t rank = 0; rank < figures.size(); ++rank) {
        EXPECT_EQ(figures[rank].tokens, counts[rank]);
        in += figures[rank].keyValueIn.value();
        out += figures[rank].keyValueOut.value();
    }
    EXPECT_EQ(in, out);
}

TEST(Sharders, CoverEveryTokenOnceAndCountPairsAsTheMaskDoes) {
    for (std::string_view strategy : sharderNames())
        for (int ranks : {1, 2, 3, 4, 8, 16})
            for (const std::vector<std::int64_t>& lengths : hostilePackings())
                checkConservation(strategy, ranks, lengths);
}

TEST(Sharders, DoSoForRandomMicroBatches) {
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (std::string_view strategy : sharderNames())
            for (int ranks : {2, 5, 8})
                checkConservation(strategy, ranks, randomPacking(seed));
}

TEST(PerSequenceSharder, CutsTheSequenceAtITimesSDiv2Cp) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::vector<Piece> pieces = piecesOf(randomPacking(seed));
        for (std::int64_t ranks : {1, 2, 3, 4, 7}) {
            Sharding sharding = PerSequenceSharder(static_cast<int>(ranks)).shard(pieces);
            TokenRanks tokens = tokenRanks(pieces, sharding);
            auto total = static_cast<std::int64_t>(tokens.rank.size());
            for (std::int64_t chunk = 0; chunk < 2 * ranks; ++chunk)
                for (std::int64_t token = chunk * total / (2 * ranks);
                     token < (chunk + 1) * total / (2 * ranks); ++token)
                    ASSERT_EQ(tokens.rank[static_cast<std::size_t>(token)],
                              std::min(chunk, 2 * ranks - 1 - chunk));
        }
    }
}

TEST(PerDocumentSharder, GivesEqualPairsWhenEveryLengthDividesBy2Cp) {
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        for (int ranks : {1, 2, 3, 4}) {
            std::vector<std::int64_t> lengths = randomPacking(seed);
            for (std::int64_t& length : lengths)
                length *= 2 * ranks;
            std::vector<std::int64_t> pairs = pairsOf(shardedBy("per-document", ranks, lengths));
            EXPECT_EQ(std::count(pairs.begin(), pairs.end(), pairs[0]), ranks);
        }
}

TEST(PerDocumentSharder, ExceedsTheMeanPairsByLessThanTwiceTheSumOfLengthsPlusOne) {
    auto check = [](const std::vector<std::int64_t>& lengths) {
        for (int ranks : {2, 3, 4, 8, 16}) {
            std::vector<std::int64_t> pairs = pairsOf(shardedBy("per-document", ranks, lengths));
            std::int64_t all = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
            std::int64_t bound = 0;
            for (std::int64_t length : lengths)
                bound += 2 * (length + 1);
            for (std::int64_t rank : pairs)
                EXPECT_LE(rank * ranks - all, bound * ranks);
        }
    };
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        check(randomPacking(seed));
    for (const std::vector<std::int64_t>& lengths : hostilePackings())
        check(lengths);
}

TEST(PerDocumentSharder, DealsRemaindersByACursorThatGoesOnFromPieceToPiece) {
    // Lengths 10 and 6 over four chunks: 3 3 2 2, then 1 1 2 2.
    Sharding sharding = PerDocumentSharder(2).shard(piecesOf({10, 6}));
    EXPECT_THAT(sharding.ranks[0],
                ElementsAre(Slice{0, 0, 3, 0, 10}, Slice{0, 8, 10, 0, 10}, Slice{1, 1000, 1001, 1000, 1006},
                            Slice{1, 1004, 1006, 1000, 1006}));
    EXPECT_THAT(sharding.ranks[1], ElementsAre(Slice{0, 3, 8, 0, 10}, Slice{1, 1001, 1004, 1000, 1006}));
}

TEST(PerDocumentSharder, StartsItsCursorAnewInEveryMicroBatch) {
    PerDocumentSharder sharder(2);
    Sharding first = sharder.shard(piecesOf({1}));
    EXPECT_EQ(sharder.shard(piecesOf({1})), first);
    EXPECT_THAT(tokensOf(first), ElementsAre(1, 0));
}

TEST(AdaptiveSharder, TakesTheStrategyWhoseSlowestRankIsFaster) {
    int perSequence = 0;
    int perDocument = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::vector<std::int64_t> lengths = randomPacking(seed);
        for (std::int64_t& length : lengths)
            length *= 37;
        std::vector<Piece> pieces = piecesOf(lengths);
        Sharding chosen = AdaptiveSharder(2, cost()).shard(pieces);
        Sharding sequence = PerSequenceSharder(2).shard(pieces);
        Sharding document = PerDocumentSharder(2).shard(pieces);
        EXPECT_EQ(slowestRank(chosen, cost()),
                  std::min(slowestRank(sequence, cost()), slowestRank(document, cost())));
        EXPECT_TRUE(chosen == sequence || chosen == document);
        (chosen.strategy == "per-sequence" ? perSequence : perDocument) += 1;
    }
    EXPECT_GT(perSequence, 0);
    EXPECT_GT(perDocument, 0);
}

TEST(AdaptiveSharder, OnOneRankTheTwoAreTheSameAndPerSequenceIsNamed) {
    Sharding sharding = AdaptiveSharder(1, cost()).shard(piecesOf({5, 9}));
    EXPECT_EQ(sharding.strategy, "per-sequence");
    EXPECT_THAT(sharding.ranks[0], ElementsAre(Slice{0, 0, 5, 0, 5}, Slice{1, 1000, 1009, 1000, 1009}));
}

TEST(ShardFigures, CountKeysAndValuesOfAnAllGather) {
    // The tiny model has 2 key-value heads of size 16 in fp32: K and V of a token are 2*2*16*4 = 256 bytes.
    std::vector<ShardFigures> figures = shardFigures(shardedBy("per-document", 4, {7}), cost());
    EXPECT_THAT(tokensOf(shardedBy("per-document", 4, {7})), ElementsAre(1, 2, 2, 2));
    EXPECT_EQ(figures[0].keyValueIn, Bytes(6 * 256));
    EXPECT_EQ(figures[0].keyValueOut, Bytes(3 * 256));
    EXPECT_EQ(figures[3].keyValueIn, Bytes(5 * 256));
    EXPECT_EQ(figures[3].keyValueOut, Bytes(6 * 256));
    EXPECT_EQ(shardFigures(shardedBy("per-document", 1, {7}), cost())[0].keyValueIn, Bytes(0));
}

TEST(ShardFigures, DivideTheHeadsByTpAndKeepOneAtLeast) {
    CostModel two = tileCost({2, 2, 1, 1});
    Sharding sharding = PerDocumentSharder(2).shard(piecesOf({8}));
    EXPECT_EQ(shardFigures(sharding, two)[0].keyValueIn, Bytes(4 * 128));
}

TEST(ShardFigures, LatencyIsOneLayersAttentionForwardAndBackward) {
    Sharding sharding = shardedBy("per-sequence", 2, {700, 300});
    std::vector<ShardFigures> figures = shardFigures(sharding, cost());
    for (std::size_t rank = 0; rank < 2; ++rank) {
        std::vector<AttentionBlock> blocks = attentionBlocks(sharding.ranks[rank]);
        EXPECT_EQ(figures[rank].latency, cost().attention(blocks, Direction::Forward) +
                                             cost().attention(blocks, Direction::Backward));
    }
    EXPECT_EQ(shardLatency({}, cost()), Seconds(0));
}

TEST(CompareShardings, ShowsAllAndNamesTheChosenAndTheBest) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<Piece> pieces = piecesOf(randomPacking(seed));
        ShardingChoice fixed = compareShardings(pieces, "per-sequence", 2, cost());
        ASSERT_EQ(fixed.strategies.size(), 5u);
        EXPECT_EQ(fixed.strategies[fixed.chosen].strategy, "per-sequence");
        ShardingChoice adaptive = compareShardings(pieces, "adaptive", 2, cost());
        EXPECT_EQ(adaptive.strategies[adaptive.chosen].strategy,
                  makeSharder("adaptive", 2, cost())->shard(pieces).strategy);
        EXPECT_EQ(adaptive.oracle, fixed.oracle);
        Seconds best = shardingSeconds(fixed.strategies[fixed.oracle], cost());
        for (std::size_t i = 0; i < fixed.strategies.size(); ++i) {
            EXPECT_EQ(fixed.figures[i].size(), 2u);
            EXPECT_GE(shardingSeconds(fixed.strategies[i], cost()), best);
        }
    }
}

TEST(SharderRegistry, RefusesUnknownStrategiesByName) {
    auto refusal = [](std::string_view strategy) -> std::string {
        try {
            makeSharder(strategy, 2, cost());
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("zigzag"),
              "sharding.strategy=zigzag: expected one of per-sequence, per-document, mixed, striped, "
              "contiguous, adaptive");
    for (std::string_view strategy : kShardingStrategies)
        EXPECT_EQ(refusal(strategy), "") << "a name that a scenario may hold";
}

/// Vectors of other projects; see the file for their sources.
TEST(HeadTailVectors, AreMet) {
    std::ifstream file(BALLAST_TEST_DATA "/core/sharding/data/head_tail_vectors.json");
    nlohmann::json vectors = nlohmann::json::parse(file);
    for (const char* strategy : {"per-document", "per-sequence", "contiguous"})
        for (const nlohmann::json& vector : vectors.at(strategy)) {
            auto offsets = vector.at("offsets").get<std::vector<std::int64_t>>();
            std::vector<std::int64_t> lengths;
            for (std::size_t i = 1; i < offsets.size(); ++i)
                lengths.push_back(offsets[i] - offsets[i - 1]);
            std::vector<Piece> pieces = piecesOf(lengths);
            Sharding sharding = shardedBy(strategy, vector.at("cp").get<int>(), lengths);
            EXPECT_EQ(pairsOf(sharding), vector.at("pairs").get<std::vector<std::int64_t>>())
                << strategy << " " << vector.dump();
            if (!vector.contains("ranks"))
                continue;
            std::vector<int> rank = tokenRanks(pieces, sharding).rank;
            for (std::size_t r = 0; r < vector.at("ranks").size(); ++r)
                for (std::size_t token : vector.at("ranks")[r].get<std::vector<std::size_t>>())
                    EXPECT_EQ(rank[token], static_cast<int>(r)) << vector.dump();
        }
}

}  // namespace
}  // namespace ballast::testing
