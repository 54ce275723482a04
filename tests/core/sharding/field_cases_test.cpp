// SPDX-License-Identifier: Apache-2.0
// Public reports of sharded packed sequences gone wrong, each with its source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sharding_setup.h"

namespace ballast::testing {
namespace {

using ::testing::Each;
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
    Sharding sequence = makeSharder("per-sequence", 4, cost())->shard(pieces);
    Sharding document = makeSharder("per-document", 4, cost())->shard(pieces);
    std::int64_t total = std::int64_t{300} * 65537;
    for (const Sharding* sharding : {&sequence, &document}) {
        std::vector<std::int64_t> tokens = tokensOf(*sharding);
        EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), total);
        std::vector<std::int64_t> pairs = pairsOf(*sharding);
        EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0}),
                  std::int64_t{300} * 65537 * 65538 / 2);
    }
}

/// verl PR 4656: documents shorter than cp * tp crashed; here also with tp 2.
TEST(FieldCase, RanksWithoutTokensAreLegalUnderEveryStrategyAndHaveNoWork) {
    CostModel tensor = tileCost({2, 8, 1, 2});
    for (std::string_view strategy : sharderNames()) {
        Sharding sharding = makeSharder(strategy, 8, tensor)->shard(piecesOf({3, 2, 1}));
        std::vector<ShardFigures> figures = shardFigures(sharding, tensor);
        ASSERT_EQ(figures.size(), 8u) << strategy;
        EXPECT_GE(std::count_if(figures.begin(), figures.end(),
                                [](const ShardFigures& rank) { return rank.tokens == 0; }),
                  2)
            << strategy;
        for (const ShardFigures& rank : figures)
            if (rank.tokens == 0) {
                EXPECT_EQ(rank.pairs, 0) << strategy;
                EXPECT_EQ(rank.latency, Seconds(0)) << strategy;
                EXPECT_EQ(rank.keyValueOut, Bytes(0)) << strategy;
            }
    }
}

/// NVIDIA/Megatron-LM PR 4495, TransformerEngine PR 2077 and issue 3487: offsets of the padded and of the
/// real sequence were mixed up, or told apart by identity. No strategy pads here, so there is one kind of
/// offset.
TEST(FieldCase, SlicesNameRealTokensOfTheirPieceAndEqualPiecesAreShardedEqually) {
    for (std::string_view strategy : sharderNames()) {
        std::vector<Piece> pieces = piecesOf({5, 3, 1});
        std::vector<Piece> copy = pieces;
        Sharding sharding = makeSharder(strategy, 2, cost())->shard(pieces);
        EXPECT_EQ(sharding, makeSharder(strategy, 2, cost())->shard(copy));
        for (const Shard& shard : sharding.ranks)
            for (const Slice& slice : shard) {
                EXPECT_GE(slice.begin, slice.pieceBegin) << strategy;
                EXPECT_LE(slice.end, slice.pieceEnd) << strategy;
                EXPECT_EQ(slice.block().prefix, slice.begin - slice.pieceBegin) << strategy;
            }
    }
}

/// pytorch/torchtitan issue 2536, MagiAttention issue 46: lengths that divide by nothing, padded to 16 (21
/// tokens lost) or to chunks of 1536 (10,021 lost).
TEST(FieldCase, AwkwardLengthsAreShardedWithoutPadding) {
    for (std::string_view strategy : sharderNames()) {
        std::vector<std::int64_t> tokens = tokensOf(shardedBy(strategy, 8, {137, 2041, 89}));
        EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), 137 + 2041 + 89)
            << strategy;
    }
    std::vector<std::int64_t> even = tokensOf(shardedBy("per-document", 8, {137, 2041, 89}));
    EXPECT_EQ(*std::max_element(even.begin(), even.end()), 284);
    EXPECT_EQ(*std::min_element(even.begin(), even.end()), 283);
}

/// zhuzilin/ring-flash-attention issue 52: runs in order are unbalanced by design, mirrored chunks are not.
TEST(FieldCase, ContiguousSharesOfOneDocumentAreOneThreeFiveSevenSixteenths) {
    std::vector<std::int64_t> pairs = pairsOf(shardedBy("contiguous", 4, {65536}));
    double all = 65536.0 * 65537 / 2;
    for (std::size_t rank = 0; rank < 4; ++rank)
        EXPECT_NEAR(static_cast<double>(pairs[rank]) / all, static_cast<double>(2 * rank + 1) / 16, 1e-4);
    for (const char* strategy : {"per-sequence", "per-document", "mixed"})
        EXPECT_THAT(pairsOf(shardedBy(strategy, 4, {65536})), Each(65536LL * 65537 / 2 / 4)) << strategy;
}

}  // namespace
}  // namespace ballast::testing
