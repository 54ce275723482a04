// SPDX-License-Identifier: Apache-2.0
#include "core/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/support/builders.h"

namespace ballast {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::quadraticCost;
using testing::tileCost;
using testing::tinyCluster;
using testing::tinyModel;
using testing::tinyScenario;

/// A window-long piece through every layer of a stage, put together from the parts that the simulator adds.
double layerSeconds(const CostModel& cost, std::int64_t tokens, Direction direction) {
    const AttentionBlock whole{tokens, 0};
    return (cost.attentionInput(tokens, direction).total() + cost.attention({&whole, 1}, direction) +
            cost.attentionOutput(tokens, direction).total() + cost.feedForward(tokens, direction).total())
        .value();
}

TEST(QuadraticCost, ComparesPiecesAsExactIntegers) {
    const CostModel cost = quadraticCost(46000);
    Random random(1);
    for (int i = 0; i < 1000; ++i) {
        const auto length = static_cast<std::int64_t>(1 + random.below(131072));
        EXPECT_EQ(static_cast<std::int64_t>(cost.pieceWork(length)), length * 46000 + length * length);
    }
    EXPECT_EQ(cost.pieceWork(0), 0);
}

TEST(QuadraticCost, AtTheCrossoverAttentionIsHalfTheWorkload) {
    const CostModel cost = quadraticCost(4096);
    const Seconds whole = cost.workload(cost.pieceWork(4096));
    EXPECT_NEAR(cost.attentionWorkload(4096) / whole, 0.5, 1e-12);
    EXPECT_NEAR(whole.value(), 2 * 4096 * cost.linearSecondsPerToken().value(), 1e-12);
}

// Field case B26: switching the cost changes which micro-batch is the heavier one.
TEST(QuadraticCost, TellsOneLongDocumentFromTwoShortOnesOfTheSameTokens) {
    const CostModel attentionBound = quadraticCost(1);
    const CostModel tokenBound = quadraticCost(1 << 30);
    EXPECT_NEAR(attentionBound.pieceWork(1024) / (2 * attentionBound.pieceWork(512)), 2.0, 0.01);
    EXPECT_NEAR(tokenBound.pieceWork(1024) / (2 * tokenBound.pieceWork(512)), 1.0, 0.01);
}

TEST(Workload, OfAWindowIsTheStagesForwardAndBackward) {
    const CostModel cost = tileCost({1, 1, 1, 2});
    const double expected =
        2 * (layerSeconds(cost, 1024, Direction::Forward) + layerSeconds(cost, 1024, Direction::Backward));
    EXPECT_NEAR(cost.workload(cost.pieceWork(1024)).value() / expected, 1, 1e-12);
}

TEST(Workload, OfTheForwardPassLeavesTheBackwardOut) {
    Scenario scenario = tinyScenario();
    scenario.layout = {1, 1, 1, 1};
    scenario.cost = {};
    const CostModel cost(scenario, tinyModel(), tinyCluster(), CostPass::Forward);
    EXPECT_NEAR(
        cost.workload(cost.pieceWork(1024)).value() / (4 * layerSeconds(cost, 1024, Direction::Forward)), 1,
        1e-12);
}

TEST(Workload, IsAdditiveOverPiecesAndZeroForAnEmptyMicroBatch) {
    for (const CostModel& cost : {tileCost({1, 2, 1, 2}), quadraticCost(1000)}) {
        EXPECT_EQ(cost.workload(0), Seconds(0));
        const Seconds together = cost.workload(cost.pieceWork(100) + cost.pieceWork(900));
        const Seconds one = cost.workload(cost.pieceWork(100));
        const Seconds other = cost.workload(cost.pieceWork(900));
        // Calls are launched once a micro-batch, whatever it holds.
        EXPECT_LE(together, one + other);
        EXPECT_GT(together, other);
    }
}

TEST(Workload, ContextParallelRanksShareTheAttention) {
    const Seconds one = tileCost({1, 1, 1, 1}).attentionWorkload(1024);
    const Seconds four = tileCost({1, 4, 1, 1}).attentionWorkload(1024);
    EXPECT_NEAR(one / four, 4, 1e-12);
}

TEST(Workload, CountsTheStageWithMostLayers) {
    Scenario scenario = tinyScenario();
    scenario.cost = {};
    scenario.schedule.stages = std::vector<std::int64_t>{1, 3};
    const CostModel uneven(scenario, tinyModel(), tinyCluster());
    scenario.schedule.stages.reset();
    const CostModel even(scenario, tinyModel(), tinyCluster());
    EXPECT_NEAR(uneven.workload(uneven.pieceWork(500)) / even.workload(even.pieceWork(500)), 1.5, 1e-12);
}

TEST(CostModel, TensorParallelRanksHoldEqualSharesOfHeads) {
    const AttentionBlock block{512, 0};
    const TileConstants constants = tinyCluster().attention[0].forward;
    const Seconds attention = tileCost({2, 1, 1, 1}).attention({&block, 1}, Direction::Forward);
    EXPECT_EQ(attention, tileSeconds(constants, countTiles(block), 2, true));
}

TEST(CostModel, AnEmptyRankTakesNoTime) {
    const CostModel cost = tileCost({1, 2, 1, 2});
    const AttentionBlock nothing{0, 7};
    for (Direction direction : {Direction::Forward, Direction::Backward}) {
        EXPECT_EQ(cost.attention({}, direction), Seconds(0));
        EXPECT_EQ(cost.attention({&nothing, 1}, direction), Seconds(0));
        EXPECT_EQ(cost.attentionInput(0, direction).total(), Seconds(0));
        EXPECT_EQ(cost.attentionOutput(0, direction).total(), Seconds(0));
        EXPECT_EQ(cost.feedForward(0, direction).total(), Seconds(0));
        EXPECT_EQ(cost.embedding(0, direction), Seconds(0));
        EXPECT_EQ(cost.head(0, direction).total(), Seconds(0));
    }
}

TEST(CostModel, TheBackwardsProductsAreTwiceTheForwardsAtOneRate) {
    ClusterSpec cluster = tinyCluster();
    cluster.gemm = {{512, 64, 64, 0.05}};
    const CostModel cost(tinyScenario(), tinyModel(), cluster);
    const double forward = cost.feedForward(512, Direction::Forward).linear.value();
    EXPECT_NEAR(forward, 6.0 * 512 * 64 * 128 / 0.05e12, 1e-12);
    EXPECT_NEAR(cost.feedForward(512, Direction::Backward).linear.value() / forward, 2, 1e-9);
    EXPECT_NEAR(cost.attentionInput(512, Direction::Forward).linear.value(),
                2.0 * 512 * 64 * (4 + 2 * 2) * 16 / 0.05e12, 1e-12);
    EXPECT_NEAR(cost.attentionOutput(512, Direction::Forward).linear.value(), 2.0 * 512 * 64 * 64 / 0.05e12,
                1e-12);
    EXPECT_NEAR(cost.head(512, Direction::Forward).linear.value(), 2.0 * 512 * 64 * 256 / 0.05e12, 1e-12);
}

TEST(CostModel, EarlierStagesTakeTheLayersLeftOver) {
    Scenario scenario = tinyScenario();
    scenario.layout = {1, 1, 1, 3};
    EXPECT_THAT(CostModel(scenario, tinyModel(), tinyCluster()).stageLayers(),
                ::testing::ElementsAre(2, 1, 1));
}

TEST(CostModel, PrecisionFollowsTheClusterUnlessTheScenarioSaysOtherwise) {
    EXPECT_EQ(quadraticCost(1).activationBytes(), 4);
    Scenario scenario;
    const ClusterSpec h100 = loadClusterSpec("h100-dgx");
    EXPECT_EQ(CostModel(scenario, loadModelSpec("llama2-7b"), h100).activationBytes(), 2);
    scenario.precision = "fp32";
    const CostModel slow(scenario, loadModelSpec("llama2-7b"), h100);
    EXPECT_EQ(slow.activationBytes(), 4);
    EXPECT_THAT(slow.notices(), Contains(HasSubstr("extrapolated: fp32")));
}

TEST(CostModel, SaysWhatWasAssumedOrExtrapolated) {
    Scenario scenario;
    scenario.layout = {1, 1, 1, 1};
    ModelSpec model = loadModelSpec("demo");
    const std::vector<std::string> notices =
        CostModel(scenario, model, loadClusterSpec("h100-dgx")).notices();
    EXPECT_THAT(notices, Contains(HasSubstr("extrapolated: attention of head_dim 32 from 128")));
    EXPECT_THAT(notices, Contains(HasSubstr("assumed: attention backward = 2.5 x forward")));
    EXPECT_THAT(notices, Contains(HasSubstr("extrapolated: matrix product 131072 x 128 x 128")));
    scenario = tinyScenario();
    EXPECT_THAT(CostModel(scenario, tinyModel(), tinyCluster()).notices(),
                Contains(HasSubstr("matrix product 512 x 32 x 64")));
}

TEST(CostModel, RanksWithoutAStatedSpeedAreNominal) {
    ClusterSpec cluster = tinyCluster();
    cluster.gpuSpeed = {1.0, 0.5};
    const CostModel cost(tinyScenario(), tinyModel(), cluster);
    EXPECT_EQ(cost.speed(1), 0.5);
    EXPECT_EQ(cost.speed(3), 1.0);
}

TEST(CostModel, RefusesALayoutThatDoesNotFitTheModel) {
    const auto sentence = [](const Layout& layout, std::optional<std::vector<std::int64_t>> stages = {}) {
        Scenario scenario = tinyScenario();
        scenario.layout = layout;
        scenario.schedule.stages = std::move(stages);
        try {
            CostModel(scenario, tinyModel(), tinyCluster());
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_THAT(sentence({3, 1, 1, 1}),
                HasSubstr("layout.tp: expected a divisor of the model's attention heads"));
    EXPECT_THAT(sentence({4, 1, 1, 1}), HasSubstr("key-value heads, 2, found 4"));
    EXPECT_THAT(sentence({1, 1, 1, 5}), HasSubstr("layout.pp: expected at most the model's layers, 4"));
    EXPECT_THAT(sentence({1, 1, 1, 2}, {{1, 1}}), HasSubstr("schedule.stages"));
    EXPECT_EQ(sentence({2, 3, 5, 4}), "no error");
}

TEST(CostModel, RefusesAClusterThatLacksAFigure) {
    ClusterSpec empty = tinyCluster();
    empty.gemm.clear();
    EXPECT_THROW(CostModel(tinyScenario(), tinyModel(), empty), Error);
    Scenario scenario = tinyScenario();
    scenario.precision = "bf16";
    EXPECT_THROW(CostModel(scenario, tinyModel(), tinyCluster()), Error);
    scenario = tinyScenario();
    scenario.cost.crossoverTokens.reset();
    EXPECT_THROW(CostModel(scenario, tinyModel(), tinyCluster()), Error);
}

}  // namespace
}  // namespace ballast
