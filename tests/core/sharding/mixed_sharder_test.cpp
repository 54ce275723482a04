// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/mixed_sharder.h"
#include "core/sharding/sharding_cost.h"
#include "core/workload/document_stream.h"
#include "flash_cp.h"
#include "sharding_setup.h"

namespace ballast::testing {
namespace {

using ::testing::Each;

constexpr std::int64_t kWindow = 131072;

/// One layer of Llama-2 7B on H100s without tensor parallelism: FlashCP's 32 heads of 128 on one node.
CostModel sevenB(int ranks, std::string_view exchange) {
    Scenario scenario;
    scenario.layout = {1, ranks, 1, 1};
    scenario.sharding.exchange = exchange;
    return CostModel(scenario, loadModelSpec("llama2-7b"), loadClusterSpec("h100-dgx"));
}

/// A window of log-normal lengths, the last cut to fit.
std::vector<std::int64_t> logNormalWindow(std::uint64_t seed, double mu, double sigma) {
    Random random(seed);
    std::vector<std::int64_t> lengths;
    for (std::int64_t total = 0; total < kWindow;) {
        double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
        double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());
        auto length = static_cast<std::int64_t>(std::min(std::exp(mu + sigma * normal), 1e9));
        length = std::clamp<std::int64_t>(length, 1, kWindow - total);
        lengths.push_back(length);
        total += length;
    }
    return lengths;
}

void expectNoWorseThanBoth(const std::vector<std::int64_t>& lengths, int ranks, const CostModel& cost) {
    std::vector<Piece> pieces = piecesOf(lengths);
    Seconds mixed = shardingSeconds(makeSharder("mixed", ranks, cost)->shard(pieces), cost);
    for (const char* other : {"per-sequence", "per-document"})
        EXPECT_LE(mixed, shardingSeconds(makeSharder(other, ranks, cost)->shard(pieces), cost))
            << other << " over " << ranks << ": " << ::testing::PrintToString(lengths);
}

TEST(MixedSharder, IsNeverWorseThanTheBetterOfPerSequenceAndPerDocument) {
    ClusterSpec slowNetwork = tinyCluster();
    slowNetwork.links[0].bandwidthGBps = 0.05;
    ClusterSpec uneven = tinyCluster();
    uneven.gpuSpeed = {1, 0.5, 0.75, 1};
    for (const char* exchange : {"all-gather", "need-based"})
        for (int ranks : {1, 2, 3, 4, 8})
            for (const ClusterSpec& cluster : {tinyCluster(), slowNetwork, uneven}) {
                CostModel cost = exchangeCost(ranks, exchange, cluster);
                for (const std::vector<std::int64_t>& lengths : hostilePackings())
                    expectNoWorseThanBoth(lengths, ranks, cost);
                for (std::uint64_t seed = 0; seed < 60; ++seed) {
                    std::vector<std::int64_t> lengths = randomPacking(seed);
                    for (std::int64_t& length : lengths)
                        length *= seed % 2 == 0 ? 1 : 137;
                    expectNoWorseThanBoth(lengths, ranks, cost);
                }
            }
}

TEST(MixedSharder, BeatsBothOnMixedLengths) {
    for (const char* exchange : {"all-gather", "need-based"}) {
        CostModel cost = sevenB(4, exchange);
        double mixed = 0;
        double better = 0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            std::vector<Piece> pieces = piecesOf(logNormalWindow(seed, 7.0, 1.6));
            mixed += shardingSeconds(makeSharder("mixed", 4, cost)->shard(pieces), cost).value();
            better += std::min(shardingSeconds(makeSharder("per-sequence", 4, cost)->shard(pieces), cost),
                               shardingSeconds(makeSharder("per-document", 4, cost)->shard(pieces), cost))
                          .value();
        }
        EXPECT_LT(mixed, 0.995 * better) << exchange;
    }
}

TEST(MixedSharder, LeavesEqualDocumentsWholeAndSendsNothing) {
    // FlashCP's sixteen documents of 8K.
    CostModel cost = sevenB(4, "need-based");
    Sharding sharding = makeSharder("mixed", 4, cost)->shard(piecesOf(std::vector<std::int64_t>(16, 8192)));
    EXPECT_THAT(neededTokens(sharding).tokens, Each(0));
    for (const Shard& shard : sharding.ranks)
        EXPECT_EQ(shard.size(), 4u);
}

TEST(MixedSharder, SpreadsADocumentThatNoRankCouldDoAlone) {
    CostModel cost = sevenB(4, "need-based");
    std::vector<Piece> pieces = piecesOf({kWindow});
    Sharding sharding = makeSharder("mixed", 4, cost)->shard(pieces);
    for (const Shard& shard : sharding.ranks)
        EXPECT_EQ(shardTokens(shard), kWindow / 4);
    EXPECT_LE(shardingSeconds(sharding, cost),
              shardingSeconds(makeSharder("per-document", 4, cost)->shard(pieces), cost));
}

TEST(MixedSharder, KeepsTokensEven) {
    CostModel cost = sevenB(8, "need-based");
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Sharding sharding = makeSharder("mixed", 8, cost)->shard(piecesOf(logNormalWindow(seed, 7.5, 1.8)));
        for (const Shard& shard : sharding.ranks)
            EXPECT_NEAR(static_cast<double>(shardTokens(shard)), kWindow / 8.0, 2.0);
    }
}

struct Traffic {
    double critical = 0;   ///< 1 - most tokens in or out of a rank / those of an all-gather of even shares
    double sent = 0;       ///< 1 - all tokens sent / those of an all-gather
    double equation5 = 0;  ///< FlashCP's: most tokens of a rank outside last parts, over the share of a rank
    double imbalance = 1;  ///< most pairs of a rank / mean
};

Traffic trafficOf(const Sharding& sharding, const CostModel& cost) {
    const auto ranks = static_cast<double>(sharding.ranks.size());
    const auto all = static_cast<double>(shardingTokens(sharding));
    ExchangedTokens needed = neededTokens(sharding);
    std::vector<ShardFigures> figures = shardFigures(sharding, cost);
    double most = 0, sent = 0, open = 0, pairs = 0, mostPairs = 0;
    for (std::size_t rank = 0; rank < sharding.ranks.size(); ++rank) {
        most =
            std::max({most, static_cast<double>(needed.into(rank)), static_cast<double>(needed.outOf(rank))});
        sent += static_cast<double>(needed.into(rank));
        double notLast = 0;
        for (const Slice& slice : sharding.ranks[rank])
            notLast += slice.end < slice.pieceEnd ? static_cast<double>(slice.tokens()) : 0.0;
        open = std::max(open, notLast);
        pairs += static_cast<double>(figures[rank].pairs);
        mostPairs = std::max(mostPairs, static_cast<double>(figures[rank].pairs));
    }
    return {1 - most / (all * (ranks - 1) / ranks), 1 - sent / (all * (ranks - 1)), 1 - open / (all / ranks),
            mostPairs / (pairs / ranks)};
}

/// FlashCP, Table 2: on the Pile at 4 ranks its heuristic saves 28 % of the traffic at imbalance 1.04, an
/// integer program 36 % at 1.00. The Pile's lengths are not published with it; the stand-in is windows of
/// 128K of log-normal lengths (mu 7.5, sigma 1.8, the last cut), on which its Algorithm 1 with target 1.05
/// saves about as much as it reports.
TEST(MixedSharder, SavesMoreTrafficThanFlashCpReportsAndThanItsAlgorithmOnTheSameWindows) {
    CostModel cost = sevenB(4, "need-based");
    constexpr int kWindows = 60;
    Traffic mixed{0, 0, 0, 0};
    double rival = 0;
    double rivalImbalance = 0;
    for (std::uint64_t seed = 0; seed < kWindows; ++seed) {
        std::vector<std::int64_t> lengths = logNormalWindow(seed, 7.5, 1.8);
        Traffic traffic = trafficOf(makeSharder("mixed", 4, cost)->shard(piecesOf(lengths)), cost);
        mixed.critical += traffic.critical / kWindows;
        mixed.sent += traffic.sent / kWindows;
        mixed.equation5 += traffic.equation5 / kWindows;
        mixed.imbalance += traffic.imbalance / kWindows;
        FlashCp flash(lengths, 4, 1.05);
        rival += flash.saving / kWindows;
        rivalImbalance += flash.imbalance / kWindows;
    }
    RecordProperty("mixed_critical_saving", std::to_string(mixed.critical));
    RecordProperty("flash_cp_saving", std::to_string(rival));
    std::printf(
        "mixed: critical %.3f, sent %.3f, equation 5 %.3f at %.3f; FlashCP's algorithm: %.3f at %.3f\n",
        mixed.critical, mixed.sent, mixed.equation5, mixed.imbalance, rival, rivalImbalance);
    EXPECT_LE(mixed.imbalance, 1.04);
    EXPECT_GE(mixed.critical, 0.36);
    EXPECT_GE(mixed.sent, 0.36);
    EXPECT_GE(mixed.equation5, 0.28);
    EXPECT_GE(mixed.equation5, rival);
    EXPECT_NEAR(rival, 0.28, 0.06) << "else the stand-in is easier or harder than the Pile";
}

/// WLB-LLM, Fig. 15: one 7B layer, CP 4, forward and backward, against per-sequence: at 64K
/// per-document 1.01, adaptive 1.05, oracle 1.07; at 128K 1.07, 1.10, 1.11.
TEST(PublishedSharding, OrderOfTheContextParallelCaseIsThePapers) {
    for (std::int64_t window : {kWindow / 2, kWindow}) {
        Scenario scenario;
        scenario.layout = {1, 4, 1, 1};
        scenario.lengths.window = window;
        CostModel cost(scenario, loadModelSpec("llama2-7b"), loadClusterSpec("h100-dgx"));
        double linear = 0;
        for (Direction way : {Direction::Forward, Direction::Backward})
            linear +=
                (cost.attentionInput(window / 4, way).total() +
                 cost.attentionOutput(window / 4, way).total() + cost.feedForward(window / 4, way).total())
                    .value();
        auto source = openLengthSource(scenario.lengths.source, 1);
        DocumentStream stream(*source, scenario.lengths, 1);
        double sequence = 0, document = 0, adaptive = 0, oracle = 0, mixed = 0;
        for (int i = 0; i < 100; ++i) {
            std::vector<Piece> pieces = stream.next()->pieces;
            auto layer = [&](std::string_view strategy) {
                return linear + shardingSeconds(makeSharder(strategy, 4, cost)->shard(pieces), cost).value();
            };
            double s = layer("per-sequence");
            double d = layer("per-document");
            sequence += s;
            document += d;
            adaptive += layer("adaptive");
            oracle += std::min(s, d);
            mixed += layer("mixed");
        }
        std::printf("%lldK: per-document %.3f, adaptive %.3f, oracle of the two %.3f, mixed %.3f\n",
                    static_cast<long long>(window / 1024), sequence / document, sequence / adaptive,
                    sequence / oracle, sequence / mixed);
        EXPECT_GT(document, 0);
        EXPECT_LE(document, sequence);
        EXPECT_LE(adaptive, document);
        EXPECT_LE(oracle, adaptive * (1 + 1e-9));
        EXPECT_LE(mixed, oracle * (1 + 1e-9));
    }
}

}  // namespace
}  // namespace ballast::testing
