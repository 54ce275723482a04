// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/per_document_sharder.h"
#include "core/sharding/sharding_cost.h"
#include "sharding_setup.h"

namespace ballast::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(KeyValueExchange, TokenGoesToRanksWithALaterQueryOfItsPiece) {
    // One piece of 8 over two ranks, 00 1111 00: rank 1 needs 00, rank 0 needs 1111 for its last two queries.
    CostModel cost = exchangeCost(2, "need-based");
    Sharding mirrored = PerDocumentSharder(2).shard(piecesOf({8}));
    EXPECT_THAT(neededTokens(mirrored).tokens, ElementsAre(0, 2, 4, 0));
    EXPECT_THAT(gatheredTokens(mirrored).tokens, ElementsAre(0, 4, 4, 0));
    // In order, 0000 1111: nothing goes back.
    Sharding ordered = makeSharder("contiguous", 2, cost)->shard(piecesOf({8}));
    EXPECT_THAT(neededTokens(ordered).tokens, ElementsAre(0, 4, 0, 0));
}

TEST(KeyValueExchange, PieceThatLiesWholeOnOneRankCostsNothing) {
    CostModel cost = exchangeCost(2, "need-based");
    Sharding whole = makeSharder("contiguous", 2, cost)->shard(piecesOf({8, 8}));
    EXPECT_THAT(neededTokens(whole).tokens, Each(0));
    EXPECT_EQ(communicationSeconds(whole, cost), Seconds(0));
    EXPECT_EQ(shardingSeconds(whole, cost), slowestRank(whole, cost));
    for (const ShardFigures& rank : shardFigures(whole, cost)) {
        EXPECT_EQ(rank.keyValueIn, Bytes(0));
        EXPECT_EQ(rank.keyValueOut, Bytes(0));
    }
}

TEST(KeyValueExchange, FiguresAreThoseOfTheScenariosExchangeAndTheirSumsAgree) {
    CostModel needed = exchangeCost(4, "need-based");
    CostModel gathered = exchangeCost(4, "all-gather");
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        for (std::string_view strategy : sharderNames()) {
            Sharding sharding = makeSharder(strategy, 4, gathered)->shard(piecesOf(randomPacking(seed)));
            std::vector<ShardFigures> some = shardFigures(sharding, needed);
            std::vector<ShardFigures> all = shardFigures(sharding, gathered);
            Bytes in, out;
            for (std::size_t rank = 0; rank < 4; ++rank) {
                in += some[rank].keyValueIn;
                out += some[rank].keyValueOut;
                EXPECT_LE(some[rank].keyValueIn, all[rank].keyValueIn);
                EXPECT_LE(some[rank].keyValueOut, all[rank].keyValueOut);
                EXPECT_EQ(some[rank].keyValueOut,
                          Bytes(neededTokens(sharding).outOf(rank) * keyValueBytesPerToken(needed)));
            }
            EXPECT_EQ(in, out);
        }
}

TEST(KeyValueExchange, TakesThreeTransfersALayerOfTheSlowestMember) {
    CostModel cost = exchangeCost(2, "need-based");
    Sharding mirrored = PerDocumentSharder(2).shard(piecesOf({8}));
    // 4 tokens of 2 * 2 heads * 16 * 4 bytes over 10 GB/s and 5 us.
    EXPECT_NEAR(communicationSeconds(mirrored, cost).value(), 3 * (5e-6 + 4 * 256 / 10e9), 1e-12);
}

TEST(KeyValueExchange, OfEqualSharesThatAllNeedEverythingTakesAsLongAsTheRing) {
    ClusterSpec cluster = tinyCluster();
    std::vector<int> ranks = {0, 1, 2, 3};
    std::vector<std::int64_t> bytes(16, 1 << 20);
    Seconds pairwise = pairwiseExchangeSeconds(cluster, ranks, bytes);
    Seconds ring = collectiveSeconds(CollectiveOperation::AllGather, 4, Bytes(4 << 20), cluster.link(true));
    EXPECT_NEAR(pairwise.value(), ring.value(), 1e-12);
    // Ranks 0 and 64 sit on two nodes: 20 us and 1 GB/s.
    std::vector<int> far = {0, 64};
    EXPECT_NEAR(pairwiseExchangeSeconds(cluster, far, std::vector<std::int64_t>{0, 1000, 0, 0}).value(),
                20e-6 + 1e-6, 1e-12);
}

}  // namespace
}  // namespace ballast::testing
