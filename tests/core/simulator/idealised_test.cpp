// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/simulator/simulation.h"
#include "core/simulator/simulator.h"
#include "tests/core/simulator/given_work.h"

namespace ballast {
namespace {

using testing::attentionOnly;
using testing::costOf;
using testing::randomWork;
using testing::workOf;

double secondsOf(const StepWork& work, const CostModel& cost) {
    return simulateStep(work, cost, {.recordSpans = false}).stepTime.value();
}

/// Attention alone, random over micro-batches and cp ranks: no kernel's efficiency changes with its size.
StepWork randomAttention(std::uint64_t seed, const Layout& layout, int microBatches) {
    Random random(seed);
    std::vector<std::vector<MicroBatchWork>> pipelines(static_cast<std::size_t>(layout.dp));
    for (auto& pipeline : pipelines)
        for (int i = 0; i < microBatches; ++i) {
            std::vector<double> forward;
            std::vector<double> backward;
            for (int cp = 0; cp < layout.cp; ++cp) {
                forward.push_back(random.uniform() * 1e-3);
                backward.push_back(2.5 * forward.back());
            }
            pipeline.push_back(attentionOnly(i, forward, backward, 1000));
        }
    return workOf(std::move(pipelines));
}

TEST(Idealised, PerfectShardingNetworkAndNoBubbleAreNeverSlower) {
    for (Layout layout : {Layout{1, 1, 1, 1}, Layout{1, 4, 2, 3}, Layout{2, 2, 2, 2}, Layout{1, 2, 1, 4}}) {
        CostModel cost = costOf({.layout = layout});
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            StepWork work = randomAttention(seed, layout, 5);
            double actual = secondsOf(work, cost);
            for (Ideal ideal : {Ideal::Sharding, Ideal::Network, Ideal::NoBubble})
                EXPECT_LE(secondsOf(idealised(work, ideal), cost), actual * (1 + 1e-6));
        }
    }
}

TEST(Idealised, PerfectPackingIsNeverSlowerWithoutAPipeline) {
    // With one there is no such rule: a light first and last micro-batch makes the fill shorter than the mean
    // does.
    CostModel cost = costOf({.layout = {1, 1, 4, 1}});
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        StepWork work = randomAttention(seed, {1, 1, 4, 1}, 3);
        work.pipelines[1].pop_back();
        EXPECT_LE(secondsOf(idealised(work, Ideal::Packing), cost), secondsOf(work, cost) * (1 + 1e-6));
    }
}

TEST(Idealised, PackingKeepsTokensAndWorkAndMakesAllMicroBatchesEqual) {
    CostModel cost = costOf({.layout = {1, 3, 2, 2}});
    StepWork work = randomWork(12, cost, 4, true);
    StepWork equal = idealised(work, Ideal::Packing);
    std::int64_t tokens = 0;
    double forward = 0;
    double before = 0;
    for (const auto& pipeline : work.pipelines)
        for (const MicroBatchWork& batch : pipeline)
            for (Seconds seconds : batch.attentionForward)
                before += seconds.value();
    for (const auto& pipeline : equal.pipelines) {
        EXPECT_EQ(pipeline.size(), equal.pipelines.front().size());
        for (const MicroBatchWork& batch : pipeline) {
            tokens += std::accumulate(batch.rankTokens.begin(), batch.rankTokens.end(), std::int64_t{0});
            for (std::size_t cp = 0; cp < 3; ++cp) {
                forward += batch.attentionForward[cp].value();
                EXPECT_DOUBLE_EQ(batch.attentionForward[cp].value(),
                                 equal.pipelines[0][0].attentionForward[cp].value());
            }
        }
    }
    EXPECT_EQ(tokens, work.tokens);
    EXPECT_NEAR(forward / before, 1, 1e-12);
    EXPECT_NEAR(equal.attentionPairs() / work.attentionPairs(), 1, 1e-12);
}

TEST(Idealised, ChangesNothingWhereAllIsEqualAlready) {
    CostModel cost = costOf({.layout = {1, 2, 2, 2}});
    std::vector<MicroBatchWork> pipeline;
    for (int i = 0; i < 4; ++i)
        pipeline.push_back(attentionOnly(i, {1e-3, 1e-3}, {2e-3, 2e-3}));
    StepWork work = workOf({pipeline, pipeline});
    for (Ideal ideal : {Ideal::Packing, Ideal::Sharding})
        EXPECT_DOUBLE_EQ(secondsOf(idealised(work, ideal), cost), secondsOf(work, cost));
    EXPECT_EQ(idealised(workOf({{}, {}}), Ideal::Packing).microBatches(), 0);
}

TEST(Idealised, BubbleOfImbalanceIsWhatEqualMicroBatchesTakeAway) {
    CostModel cost = costOf({.layout = {1, 1, 1, 2}, .layers = 2});
    StepWork uneven = workOf({{attentionOnly(0, {0.01}, {0.02}), attentionOnly(1, {0.09}, {0.18}),
                               attentionOnly(2, {0.01}, {0.02}), attentionOnly(3, {0.09}, {0.18})}});
    uneven.freeTransfers = true;
    SimulatedStep step = simulateStep(uneven, cost);
    // Four equal micro-batches on two stages: (p - 1) / (m + p - 1).
    EXPECT_NEAR(step.bubbleSchedule, 1.0 / 5.0, 1e-3);
    EXPECT_GT(step.bubble, step.bubbleSchedule);
}

TEST(SimulationSummary, SumsStepsAsThePlannersPageSays) {
    CostModel cost = costOf({.layout = {1, 2, 1, 2}});
    SimulationSummary summary;
    double seconds = 0;
    double flops = 0;
    double idle = 0;
    std::int64_t tokens = 0;
    std::vector<double> times;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        SimulatedStep step = simulateStep(randomWork(seed, cost, 3, true), cost);
        summary.add(step);
        seconds += step.stepTime.value();
        flops += step.modelFlops;
        tokens += step.tokens;
        times.push_back(step.stepTime.value());
        for (const RankBreakdown& rank : step.ranks)
            idle += step.stepTime.value() - rank.computeSeconds();
    }
    std::sort(times.begin(), times.end());
    EXPECT_EQ(summary.steps(), 5);
    EXPECT_DOUBLE_EQ(summary.medianStepSeconds(), times[2]);
    EXPECT_DOUBLE_EQ(summary.stepSecondsPercentile(0), times[0]);
    EXPECT_DOUBLE_EQ(summary.stepSecondsPercentile(100), times[4]);
    EXPECT_DOUBLE_EQ(summary.stepSecondsPercentile(5), times[0] + 0.2 * (times[1] - times[0]));
    EXPECT_NEAR(summary.secondsPerToken() * static_cast<double>(tokens) / seconds, 1, 1e-12);
    EXPECT_NEAR(summary.tokensPerSecond() * summary.secondsPerToken(), 1, 1e-12);
    EXPECT_NEAR(summary.mfu(1e12, 4) * (seconds * 4 * 1e12) / flops, 1, 1e-12);
    EXPECT_NEAR(summary.meanBreakdown().totalSeconds(), seconds / 5, 1e-12);
    EXPECT_NEAR(summary.bubble(), idle / 4 / seconds, 1e-9);
    EXPECT_NEAR(summary.bubble(), summary.bubbleSchedule() + summary.bubbleImbalance(), 1e-12);
    EXPECT_GT(summary.memory().gib, 0);
}

TEST(SimulationSummary, IsZeroWithoutSteps) {
    SimulationSummary summary;
    EXPECT_EQ(summary.medianStepSeconds(), 0);
    EXPECT_EQ(summary.secondsPerToken(), 0);
    EXPECT_EQ(summary.tokensPerSecond(), 0);
    EXPECT_EQ(summary.mfu(1e12, 4), 0);
    EXPECT_EQ(summary.bubble(), 0);
    EXPECT_EQ(summary.meanBreakdown().totalSeconds(), 0);
}

}  // namespace
}  // namespace ballast
