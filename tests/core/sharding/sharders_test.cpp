// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/sharding/adaptive_sharder.h"
#include "core/sharding/sharding_cost.h"
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
    // A rank of per-sequence has two chunks, each at most a token from the exact share.
    EXPECT_LE(*most - *least, sharding.strategy == "per-document" ? 1 : 2);
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

TEST(CompareShardings, ShowsBothAndNamesTheChosenAndTheBest) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::vector<Piece> pieces = piecesOf(randomPacking(seed));
        ShardingChoice fixed = compareShardings(pieces, "per-sequence", 2, cost());
        ASSERT_EQ(fixed.strategies.size(), 2u);
        EXPECT_EQ(fixed.strategies[fixed.chosen].strategy, "per-sequence");
        ShardingChoice adaptive = compareShardings(pieces, "adaptive", 2, cost());
        EXPECT_EQ(adaptive.chosen, adaptive.oracle);
        EXPECT_EQ(adaptive.oracle, fixed.oracle);
        EXPECT_EQ(fixed.figures[1].size(), 2u);
    }
}

TEST(SharderRegistry, RefusesUnknownAndUnbuiltStrategiesByName) {
    auto refusal = [](std::string_view strategy) -> std::string {
        try {
            makeSharder(strategy, 2, cost());
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("zigzag"),
              "sharding.strategy=zigzag: expected one of per-sequence, per-document, adaptive");
    EXPECT_EQ(refusal("mixed"),
              "sharding.strategy=mixed is not built yet; use one of per-sequence, "
              "per-document, adaptive");
}

/// Vectors of other projects; see the file for their sources.
TEST(HeadTailVectors, AreMet) {
    std::ifstream file(BALLAST_TEST_DATA "/core/sharding/data/head_tail_vectors.json");
    nlohmann::json vectors = nlohmann::json::parse(file);
    for (const char* strategy : {"per-document", "per-sequence"})
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

/// NVIDIA/Megatron-LM issue 1669, TransformerEngine issues 1929 and 1930: a document of 7 over 2 ranks became
/// one of 6. verl PR 4656: documents shorter than the number of chunks crashed.
TEST(FieldCase, LengthsThatDoNotDivideLoseNoToken) {
    for (std::string_view strategy : sharderNames()) {
        auto total = [&](int ranks, const std::vector<std::int64_t>& lengths) {
            std::vector<std::int64_t> tokens = tokensOf(shardedBy(strategy, ranks, lengths));
            return std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
        };
        EXPECT_EQ(total(2, {7}), 7);
        EXPECT_EQ(total(2, {7, 8, 9}), 24);
        EXPECT_EQ(total(8, {1}), 1);
        EXPECT_EQ(total(8, {3, 2, 4096}), 4101);
    }
    EXPECT_THAT(tokensOf(shardedBy("per-document", 8, {1})), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_THAT(shardedBy("per-document", 8, {1}).ranks[5], IsEmpty()) << "a rank without tokens is legal";
}

/// pytorch PR 189902: head-tail laid out document by document but cut contiguously is unbalanced.
TEST(FieldCase, PerDocumentBalancesFourAndTwelve) {
    EXPECT_THAT(pairsOf(shardedBy("per-document", 2, {4, 12})), ElementsAre(44, 44));
}

/// huggingface/trl PR 6843: a plain causal mask over the packed sequence lets documents see each other.
TEST(FieldCase, PairsAreThoseOfTheDocumentMask) {
    for (std::string_view strategy : sharderNames()) {
        std::vector<std::int64_t> pairs = pairsOf(shardedBy(strategy, 2, {64, 64}));
        EXPECT_EQ(pairs[0] + pairs[1], 4160);
    }
    EXPECT_EQ(attentionPairs({128, 0}), 8256);
}

/// Megatron's float32 offsets: the first lost one is 16,843,009.
TEST(FieldCase, OffsetsBeyondFloat32StayExact) {
    std::vector<Piece> pieces;
    for (std::int64_t i = 0; i < 300; ++i)
        pieces.push_back({i, 0, 65537, 0, i});
    Sharding sequence = PerSequenceSharder(4).shard(pieces);
    Sharding document = PerDocumentSharder(4).shard(pieces);
    std::int64_t total = std::int64_t{300} * 65537;
    for (const Sharding* sharding : {&sequence, &document}) {
        std::vector<std::int64_t> tokens = tokensOf(*sharding);
        EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), total);
        std::vector<std::int64_t> pairs = pairsOf(*sharding);
        EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0}),
                  std::int64_t{300} * 65537 * 65538 / 2);
    }
}

}  // namespace
}  // namespace ballast::testing
