// SPDX-License-Identifier: Apache-2.0
#include "core/compare/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/compare/statistics.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

constexpr Nanoseconds kMillisecond = 1'000'000;

/// Two steps of two micro-batches on two ranks; numbers small enough to work out by hand.
class Compare : public ::testing::Test {
  protected:
    TemporaryDirectory folder;
    Workspace workspace = Workspace::open(folder / "job.ballast", Workspace::Mode::ReadWrite);

    static PlanHeader header() {
        PlanHeader header;
        header.scenario = tinyScenario();
        header.scenario.layout = {1, 1, 1, 2};
        header.model = tinyModel();
        header.cluster = tinyCluster();
        return header;
    }

    /// `lengths` of the documents by step and micro-batch, one piece each.
    static std::vector<PlanStep> planOf(const std::vector<std::vector<std::int64_t>>& lengths) {
        std::vector<PlanStep> steps;
        std::int64_t document = 0;
        for (const std::vector<std::int64_t>& step : lengths) {
            PlanStep planned;
            planned.step = std::ssize(steps);
            for (const std::int64_t length : step) {
                PlannedMicroBatch batch;
                batch.batch.index = static_cast<int>(planned.microBatches.size());
                batch.batch.pieces = {{document, 0, length, planned.step, document}};
                batch.batch.tokens = length;
                batch.batch.work = static_cast<double>(length * 4096 + length * length);
                batch.sharding = {"per-sequence", {{{document, 0, length, 0, length}}}};
                planned.microBatches.push_back(std::move(batch));
                ++document;
            }
            steps.push_back(std::move(planned));
        }
        return steps;
    }

    RunId addRun(std::int64_t plan, const Scenario& scenario = header().scenario,
                 Clock clock = Clock::Virtual) {
        RunRecord run;
        run.kind = clock == Clock::Simulated ? RunKind::Simulated : RunKind::Measured;
        run.state = RunState::Done;
        run.clock = clock;
        run.layout = scenario.layout;
        run.scenario = scenarioJson(scenario);
        run.plan = plan;
        return workspace.addRun(run);
    }

    /// A step of `milliseconds` in which the ranks compute for `compute` and wait in cp_gather for `waiting`.
    void addStep(RunId run, const PlanStep& planned, std::int64_t milliseconds, std::vector<double> compute,
                 std::vector<double> waiting, std::optional<double> loss = {}) {
        StepRecord step;
        step.step = planned.step;
        step.begin = planned.step * 1000 * kMillisecond;
        step.end = step.begin + milliseconds * kMillisecond;
        step.tokens = planned.tokens();
        step.targets = planned.targets();
        step.loss = loss;
        std::vector<RankStepRecord> ranks;
        for (int rank = 0; rank < 2; ++rank) {
            RankStepRecord record{planned.step, rank, {}, {}};
            record.breakdown.addKind(SpanKind::LinearForward, compute[static_cast<std::size_t>(rank)]);
            record.breakdown.addKind(SpanKind::CpGather, 0.5);
            record.breakdown.addWaiting(SpanKind::CpGather, waiting[static_cast<std::size_t>(rank)]);
            record.breakdown.pipelineIdleSeconds = 0.25;
            ranks.push_back(std::move(record));
        }
        StepTimeline timeline;
        timeline.step = planned.step;
        workspace.addStep(run, step, timeline, ranks);
    }
};

TEST_F(Compare, SumsUpARunAsWorkedOutByHand) {
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    const RunId run = addRun(workspace.addPlan(header(), plan, {}));
    addStep(run, plan[0], 400, {3, 1}, {0, 2}, 6.0);
    addStep(run, plan[1], 200, {2, 2}, {0.5, 0.5}, 4.0);
    const RunFigures figures = runFigures(workspace, run);
    EXPECT_EQ(figures.steps, 2);
    EXPECT_DOUBLE_EQ(figures.secondsPerToken, 0.6 / 800);
    EXPECT_DOUBLE_EQ(figures.tokensPerSecond, 800 / 0.6);
    EXPECT_DOUBLE_EQ(figures.computeSeconds, 8);
    EXPECT_DOUBLE_EQ(figures.waitingSeconds.at(SpanKind::CpGather), 3);
    EXPECT_DOUBLE_EQ(figures.kindSeconds.at(SpanKind::CpGather), 2);
    EXPECT_DOUBLE_EQ(figures.pipelineIdleSeconds, 1);
    // Ranks: (3 + 2) / (2 + 2).
    EXPECT_DOUBLE_EQ(figures.rankImbalance, 1.25);
    EXPECT_EQ(figures.stepSeconds, (std::vector<double>{0.4, 0.2}));
    // 398 targets of the first step with loss 6, as many of the second with loss 4.
    EXPECT_DOUBLE_EQ(*figures.lossLast, 5.0);
    // Workloads are the cost model's: (w(300) + w(200)) / ((w(100) + w(300)) / 2 + w(200)).
    const CostModel cost(header().scenario, header().model, header().cluster);
    const auto work = [&](double length) { return cost.workload(length * 4096 + length * length).value(); };
    EXPECT_NEAR(figures.imbalanceDegree, (work(300) + work(200)) / ((work(100) + work(300)) / 2 + work(200)),
                1e-12);
}

TEST_F(Compare, LeavesPartialStepsOut) {
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    const RunId run = addRun(workspace.addPlan(header(), plan, {}));
    addStep(run, plan[0], 400, {3, 1}, {0, 2}, 6.0);
    StepRecord partial;
    partial.step = 1;
    partial.complete = false;
    partial.end = 999 * kMillisecond;
    partial.tokens = 400;
    partial.loss = 100.0;
    partial.targets = 398;
    partial.missingRanks = {1};
    RankStepRecord figures{1, 0, {}, {}};
    figures.breakdown.addKind(SpanKind::LinearForward, 77);
    workspace.addStep(run, partial, {.step = 1, .ranks = {}}, {figures});
    EXPECT_EQ(runFigures(workspace, run).steps, 1);
    EXPECT_DOUBLE_EQ(runFigures(workspace, run).computeSeconds, 4);
    EXPECT_DOUBLE_EQ(*runFigures(workspace, run).lossLast, 6.0);
}

TEST_F(Compare, HoldsRunsOverTheSamePiecesAgainstEachOther) {
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    std::vector<PlanStep> packedOtherwise = plan;
    std::swap(packedOtherwise[0].microBatches[1].batch, packedOtherwise[1].microBatches[1].batch);
    const RunId slow = addRun(workspace.addPlan(header(), plan, {}));
    addStep(slow, plan[0], 400, {3, 1}, {0, 2});
    addStep(slow, plan[1], 400, {3, 1}, {0, 2});
    Scenario scenario = header().scenario;
    scenario.packing.strategy = "sequential";
    const RunId fast = addRun(workspace.addPlan(header(), packedOtherwise, {}), scenario);
    addStep(fast, packedOtherwise[0], 300, {2, 2}, {0, 0});
    addStep(fast, packedOtherwise[1], 300, {2, 2}, {0, 0});
    const Comparison comparison = compare(workspace, {runFigures(workspace, slow)}, fast);
    EXPECT_TRUE(comparison.comparable) << comparison.whyNot.front();
    EXPECT_NEAR(comparison.secondsPerTokenDelta, -0.25, 1e-12);
    EXPECT_EQ(comparison.noise, 0);
}

TEST_F(Compare, SaysWhyRunsCannotBeCompared) {
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    const std::int64_t stored = workspace.addPlan(header(), plan, {});
    const RunId baseline = addRun(stored);
    addStep(baseline, plan[0], 400, {3, 1}, {0, 2});
    addStep(baseline, plan[1], 400, {3, 1}, {0, 2});
    const auto reasons = [&](RunId other) {
        const Comparison comparison = compare(workspace, {runFigures(workspace, baseline)}, other);
        EXPECT_FALSE(comparison.comparable);
        std::string all;
        for (const std::string& reason : comparison.whyNot)
            all += reason + "\n";
        return all;
    };

    const RunId wall = addRun(stored, header().scenario, Clock::Wall);
    addStep(wall, plan[0], 400, {3, 1}, {0, 2});
    addStep(wall, plan[1], 400, {3, 1}, {0, 2});
    EXPECT_EQ(reasons(wall), "not the same clock: virtual and wall\n");

    const RunId simulated = addRun(stored, header().scenario, Clock::Simulated);
    addStep(simulated, plan[0], 400, {3, 1}, {0, 2});
    addStep(simulated, plan[1], 400, {3, 1}, {0, 2});
    EXPECT_NE(reasons(simulated).find("virtual and simulated; only compute and waiting"), std::string::npos);

    const RunId shorter = addRun(stored);
    addStep(shorter, plan[0], 400, {3, 1}, {0, 2});
    EXPECT_EQ(reasons(shorter), "not the same pieces: 4 of 800 tokens and 2 of 400 tokens\n");

    Scenario otherSeed = header().scenario;
    otherSeed.lengths.seed = 2;
    otherSeed.model = "llama3-8b";
    const RunId seed = addRun(stored, otherSeed);
    addStep(seed, plan[0], 400, {3, 1}, {0, 2});
    addStep(seed, plan[1], 400, {3, 1}, {0, 2});
    EXPECT_EQ(reasons(seed),
              "not the same lengths.seed: 1 and 2\nnot the same model: \"demo\" and \"llama3-8b\"\n");
    EXPECT_THROW(compare(workspace, {runFigures(workspace, baseline)}, 99), Error);
}

TEST_F(Compare, TakesTheNoiseFromTheStepsThatRepeatsShare) {
    // One run of two steps and two short ones over the first step alone: 1.0, 1.1 and 0.9 ms a token.
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    const std::vector<PlanStep> first = {plan[0]};
    Scenario shortScenario = header().scenario;
    shortScenario.steps = 1;
    const RunId whole = addRun(workspace.addPlan(header(), plan, {}));
    addStep(whole, plan[0], 400, {3, 1}, {0, 2});
    addStep(whole, plan[1], 900, {3, 1}, {0, 2});
    EXPECT_EQ(repeatNoise(workspace, workspace.run(whole)), 0);
    for (const std::int64_t milliseconds : {440, 360}) {
        const RunId repeat = addRun(workspace.addPlan(header(), first, {}), shortScenario);
        addStep(repeat, first[0], milliseconds, {3, 1}, {0, 2});
    }
    EXPECT_NEAR(repeatNoise(workspace, workspace.run(whole)), (1.1 - 0.9) / 1.0, 1e-12);
    // A run of another scenario, or over other pieces, is no repeat.
    Scenario other = header().scenario;
    other.packing.strategy = "greedy";
    const RunId stranger = addRun(workspace.addPlan(header(), plan, {}), other);
    addStep(stranger, plan[0], 4000, {3, 1}, {0, 2});
    EXPECT_NEAR(repeatNoise(workspace, workspace.run(whole)), 0.2, 1e-12);
}

TEST_F(Compare, HoldsComputeAndWaitingAgainstThePredictionOverCommonSteps) {
    const std::vector<PlanStep> plan = planOf({{100, 300}, {200, 200}});
    const std::int64_t stored = workspace.addPlan(header(), plan, {});
    const RunId predicted = addRun(stored, header().scenario, Clock::Simulated);
    addStep(predicted, plan[0], 400, {3, 1}, {0, 2});
    addStep(predicted, plan[1], 400, {30, 10}, {0, 20});
    const RunId measured = addRun(stored);
    EXPECT_FALSE(predictionError(workspace, runFigures(workspace, measured)));
    workspace.setPrediction(measured, predicted);
    addStep(measured, plan[0], 500, {3, 2}, {0, 1});
    const auto error = predictionError(workspace, runFigures(workspace, measured));
    ASSERT_TRUE(error);
    EXPECT_DOUBLE_EQ(error->predictedComputeSeconds, 4);
    EXPECT_DOUBLE_EQ(error->measuredComputeSeconds, 5);
    EXPECT_DOUBLE_EQ(error->predictedWaitingSeconds, 2);
    EXPECT_DOUBLE_EQ(error->measuredWaitingSeconds, 1);
    EXPECT_DOUBLE_EQ(error->computeRatio(), 0.8);
}

TEST(Statistics, AreThoseOfTextbooks) {
    const std::vector<double> values = {4, 1, 3, 2};
    EXPECT_DOUBLE_EQ(mean(values), 2.5);
    EXPECT_DOUBLE_EQ(median(values), 2.5);
    EXPECT_DOUBLE_EQ(percentile(values, 0), 1);
    EXPECT_DOUBLE_EQ(percentile(values, 100), 4);
    EXPECT_DOUBLE_EQ(percentile(values, 95), 3.85);
    EXPECT_DOUBLE_EQ(relativeSpread(values), 3 / 2.5);
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(relativeSpread(std::vector<double>{7}), 0);
}

}  // namespace
}  // namespace ballast
