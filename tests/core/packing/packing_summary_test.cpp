// SPDX-License-Identifier: Apache-2.0
#include "core/packing/packing_summary.h"

#include <gtest/gtest.h>

#include <numeric>

#include "packing_setup.h"

namespace ballast::testing {
namespace {

PackedStep stepOf(std::vector<std::vector<std::int64_t>> lengths, const CostModel& cost,
                  std::int64_t number = 0, StepKind kind = StepKind::Full) {
    PackedStep step;
    step.step = number;
    step.kind = kind;
    for (const std::vector<std::int64_t>& list : lengths) {
        MicroBatch& microBatch = step.microBatches.emplace_back();
        for (std::int64_t length : list) {
            microBatch.pieces.push_back({0, 0, length, number, 0});
            microBatch.tokens += length;
            microBatch.work += cost.pieceWork(length);
        }
    }
    return step;
}

struct Figures : ::testing::Test {
    Scenario scenario = scenarioOf({.crossover = 4});
    CostModel cost = costOf(scenario);
};

TEST_F(Figures, ImbalanceIsLargestOverMeanOfTheNonEmptyMicroBatches) {
    // Works 4*4 + 16 = 32 and 2*(2*4 + 4) = 24: 32 / 28. Pairs 10 and 6.
    PackedStep step = stepOf({{4}, {2, 2}, {}}, cost);
    EXPECT_DOUBLE_EQ(imbalanceDegree(step, cost), 32.0 / 28.0);
    EXPECT_DOUBLE_EQ(attentionImbalance(step), 10.0 / 8.0);
}

TEST_F(Figures, ImbalanceOfNothingIsOne) {
    EXPECT_EQ(imbalanceDegree(stepOf({{}, {}}, cost), cost), 1);
    EXPECT_EQ(attentionImbalance(stepOf({{}, {}}, cost)), 1);
    PackingSummary summary(cost);
    EXPECT_EQ(summary.imbalanceDegree(), 1);
    EXPECT_EQ(summary.imbalanceDegreeMeanOfSteps(), 1);
    EXPECT_EQ(summary.imbalanceDegreeP95(), 1);
    EXPECT_EQ(summary.meanDelaySteps(), 0);
}

TEST_F(Figures, EqualTokensAreNotEqualWork) {
    // Field case: {1 x 1024} against {2 x 512} have the same tokens and twice the pairs.
    PackedStep step = stepOf({{1024}, {512, 512}}, cost);
    double one = 1024.0 * 1025 / 2;
    double two = 512.0 * 513;
    EXPECT_NEAR(one / two, 2, 0.01);
    EXPECT_DOUBLE_EQ(attentionImbalance(step), one / ((one + two) / 2));
}

TEST_F(Figures, OverStepsTheImbalanceWeighsStepsByTheirWork) {
    PackingSummary summary(cost);
    summary.add(stepOf({{4}, {2, 2}}, cost, 0));
    summary.add(stepOf({{1}, {1}}, cost, 1));
    summary.add(stepOf({{4}, {1}}, cost, 2, StepKind::Drain));
    EXPECT_NEAR(summary.imbalanceDegree(), (32.0 + 5 + 32) / (28.0 + 5 + 18.5), 1e-12);
    EXPECT_NEAR(summary.imbalanceDegreeMeanOfSteps(), (32.0 / 28 + 1) / 2, 1e-12);
}

TEST_F(Figures, ASourceShorterThanABatchStillHasAMeanOfSteps) {
    PackingSummary summary(cost);
    summary.add(stepOf({{4}, {2, 2}}, cost, 0, StepKind::Partial));
    EXPECT_NEAR(summary.imbalanceDegreeMeanOfSteps(), 32.0 / 28, 1e-12);
}

TEST_F(Figures, P95IsTheNearestRankOfTheStepsRatios) {
    PackingSummary summary(cost);
    // 19 even steps and one uneven one: the 95th of 100 per cent is the 19th of 20.
    for (int step = 0; step < 19; ++step)
        summary.add(stepOf({{4}, {4}}, cost, step));
    summary.add(stepOf({{4}, {2, 2}}, cost, 19));
    EXPECT_NEAR(summary.imbalanceDegreeP95(), 1, 1e-12);
    summary.add(stepOf({{4}, {2, 2}}, cost, 20));
    EXPECT_NEAR(summary.imbalanceDegreeP95(), 32.0 / 28, 1e-12);
}

TEST_F(Figures, DelayWeighsTokensAndCountsWaitingOnes) {
    PackingSummary summary(cost);
    PackedStep step = stepOf({{10}, {30}, {60}}, cost, 5);
    step.microBatches[0].pieces[0].arrivalStep = 5;
    step.microBatches[1].pieces[0].arrivalStep = 3;
    step.microBatches[2].pieces[0].arrivalStep = 6;  // a pool trains some tokens before their batch
    summary.add(step);
    EXPECT_DOUBLE_EQ(summary.meanDelaySteps(), (30.0 * 2) / 100);
    EXPECT_DOUBLE_EQ(summary.meanDisplacementSteps(), (30.0 * 2 + 60.0 * 1) / 100);
    EXPECT_EQ(summary.maxDelaySteps(), 2);
    std::vector<Piece> waiting = {{9, 0, 100, 1, 0}};
    summary.addWaiting(waiting, 5);
    EXPECT_DOUBLE_EQ(summary.meanDelaySteps(), (30.0 * 2 + 100.0 * 4) / 200);
    EXPECT_EQ(summary.maxDelaySteps(), 4);
    EXPECT_EQ(summary.tokens(), 100) << "waiting tokens are not trained yet";
}

TEST_F(Figures, ADocumentCutIntoPiecesIsOneDocument) {
    PackingSummary summary(cost);
    PackedStep step = stepOf({{4, 4}, {4}}, cost);
    step.microBatches[0].pieces[1] = {0, 4, 8, 0, 1};
    summary.add(step);
    EXPECT_EQ(summary.documents(), 2);
    EXPECT_EQ(summary.pieces(), 3);
}

/// One outlier a batch and N micro-batches: batches come in groups of N, and the first outlier of a group
/// waits N - 1 steps, the last none: (N - 1) / 2 on average.
TEST(OutlierDelay, IsHalfOfNMinusOneWhenEveryBatchBringsOne) {
    for (int n : {1, 2, 3, 5, 8}) {
        PackingCase given{.window = 16, .microBatches = n, .thresholds = {12}};
        Scenario scenario = scenarioOf(given);
        CostModel cost = costOf(scenario);
        std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
        PackingSummary summary(cost);
        const std::int64_t groups = 4;
        for (std::int64_t step = 0; step < groups * n; ++step)
            for (const PackedStep& packed : packer->pack(batchOf({12}, step, step)))
                summary.add(packed);
        EXPECT_FALSE(packer->drain().has_value());
        EXPECT_DOUBLE_EQ(summary.meanDelaySteps(), (n - 1) / 2.0);
        EXPECT_EQ(summary.maxDelaySteps(), n - 1);
    }
}

/// With c outliers a batch and N = k*c, a group of k batches waits k-1, ..., 0: (k - 1) / 2, and short tokens
/// that never wait bring the token-weighted mean down by their share.
TEST(OutlierDelay, OfCOutliersABatchIsWeighedByTheirTokens) {
    PackingCase given{.window = 16, .microBatches = 6, .thresholds = {12}};
    Scenario scenario = scenarioOf(given);
    CostModel cost = costOf(scenario);
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
    PackingSummary summary(cost);
    for (std::int64_t step = 0; step < 30; ++step)
        for (const PackedStep& packed : packer->pack(batchOf({16, 16, 1, 1, 1, 1, 2, 2}, step, 8 * step)))
            summary.add(packed);
    EXPECT_FALSE(packer->drain().has_value());
    EXPECT_DOUBLE_EQ(summary.meanDelaySteps(), 1.0 * 32 / 40);
    EXPECT_DOUBLE_EQ(summary.meanDisplacementSteps(), summary.meanDelaySteps());
}

}  // namespace
}  // namespace ballast::testing
