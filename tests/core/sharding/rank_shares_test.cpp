// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/sharding/per_document_sharder.h"
#include "core/sharding/rank_shares.h"
#include "core/sharding/sharding_cost.h"
#include "sharding_setup.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;

CostModel costWithSpeeds(const Layout& layout, const std::vector<double>& speeds) {
    Scenario scenario = tinyScenario();
    scenario.layout = layout;
    scenario.cost = {};
    ClusterSpec cluster = tinyCluster();
    cluster.gpuSpeed = speeds;
    return CostModel(scenario, tinyModel(), cluster);
}

TEST(RankShares, AddUpAndAreWithinATokenOfTheExactOnes) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        std::vector<double> speeds(1 + random.below(9));
        for (double& speed : speeds)
            speed = 0.1 + random.uniform();
        auto tokens = static_cast<std::int64_t>(random.below(5000));
        std::vector<std::int64_t> shares = proportionalShares(tokens, speeds);
        double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
        EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), tokens);
        for (std::size_t rank = 0; rank < speeds.size(); ++rank)
            EXPECT_LT(std::abs(static_cast<double>(shares[rank]) -
                               static_cast<double>(tokens) * speeds[rank] / sum),
                      1.0);
    }
}

TEST(RankShares, SpeedOfARankIsThatOfItsSlowestTpRankAndStage) {
    // Ranks in the order tp, cp, dp, pp.
    std::vector<double> speeds(16, 1.0);
    Layout layout{2, 2, 2, 2};
    speeds[static_cast<std::size_t>(layout.rankOf({1, 0, 0, 1}))] = 0.5;
    speeds[static_cast<std::size_t>(layout.rankOf({0, 1, 1, 0}))] = 0.25;
    CostModel cost = costWithSpeeds(layout, speeds);
    EXPECT_THAT(contextSpeeds(cost, 2, 0), ElementsAre(0.5, 1.0));
    EXPECT_THAT(contextSpeeds(cost, 2, 1), ElementsAre(1.0, 0.25));
}

TEST(RankShares, LongDocumentTakesLittleMoreThanTheSumOfSpeedsAllows) {
    for (const std::vector<double>& speeds :
         {std::vector<double>{1, 0.5, 1, 0.8}, {0.4, 1, 1, 1}, {1, 0.9, 0.7, 0.3}}) {
        CostModel cost = costWithSpeeds({1, 4, 1, 1}, speeds);
        std::vector<Piece> pieces = piecesOf({131072});
        SliceCost slice(cost);
        double ideal = slice({131072, 0}) / std::accumulate(speeds.begin(), speeds.end(), 0.0) +
                       slice.launch() / *std::min_element(speeds.begin(), speeds.end());
        for (const char* strategy : {"per-document", "mixed"}) {
            Seconds slowest = slowestRank(makeSharder(strategy, 4, cost)->shard(pieces), cost);
            EXPECT_GE(slowest.value(), 0.97 * ideal) << strategy;
            EXPECT_LE(slowest.value(), 1.03 * ideal) << strategy;
        }
        Seconds equal = slowestRank(PerDocumentSharder(4).shard(pieces), cost);
        EXPECT_GT(equal.value(), 1.2 * ideal) << "equal shares wait for the slowest";
    }
}

TEST(RankShares, TotalsOfManyShortPiecesStayProportional) {
    CostModel cost = costWithSpeeds({1, 3, 1, 1}, {1, 0.5, 0.25});
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::vector<std::int64_t> lengths = randomPacking(seed);
        auto total = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
        for (const char* strategy : {"per-document", "mixed"}) {
            Sharding sharding = makeSharder(strategy, 3, cost)->shard(piecesOf(lengths));
            // Where attention hardly matters mixed may take equal shares from per-sequence.
            if (sharding.ranks == makeSharder("per-sequence", 3, cost)->shard(piecesOf(lengths)).ranks)
                continue;
            for (std::size_t rank = 0; rank < 3; ++rank)
                EXPECT_NEAR(static_cast<double>(shardTokens(sharding.ranks[rank])),
                            total * std::pow(0.5, static_cast<double>(rank)) / 1.75, 2.0)
                    << strategy;
        }
    }
}

TEST(RankShares, SharesFollowTheSpeedsOfTheMicroBatchsOwnDpRank) {
    CostModel cost = costWithSpeeds({1, 2, 2, 1}, {1, 1, 1, 0.5});
    std::vector<Piece> pieces = piecesOf({3000});
    auto sharder = makeSharder("per-document", 2, cost);
    EXPECT_EQ(shardTokens(sharder->shard(pieces, 0).ranks[1]), 1500);
    EXPECT_EQ(shardTokens(sharder->shard(pieces, 1).ranks[1]), 1000);
}

}  // namespace
}  // namespace ballast::testing
