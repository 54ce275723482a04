// SPDX-License-Identifier: Apache-2.0
#include "core/store/simulated_run.h"

#include <gtest/gtest.h>

#include "core/sharding/sharder.h"
#include "tests/core/store/random_work.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

/// Two micro-batches a step, of lengths that grow, sharded over cp 2.
std::vector<PlanStep> shardedPlan(const PlanHeader& header) {
    const CostModel cost(header.scenario, header.model, header.cluster);
    const auto sharder = makeSharder("per-document", header.scenario.layout.cp, cost);
    std::vector<PlanStep> steps;
    for (std::int64_t number = 0; number < 3; ++number) {
        PlanStep step;
        step.step = number;
        for (int index = 0; index < 2; ++index) {
            const std::int64_t length = 200 + 100 * index + 50 * number;
            PlannedMicroBatch planned;
            planned.batch.index = index;
            planned.batch.pieces = {{number * 2 + index, 0, length, number, number * 2 + index}};
            planned.batch.tokens = length;
            planned.batch.work = cost.pieceWork(length);
            planned.sharding = sharder->shard(planned.batch.pieces);
            step.microBatches.push_back(std::move(planned));
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

TEST(StoredSimulation, CutShortIsAFailedRunThatSaysSo) {
    TemporaryDirectory folder;
    const std::filesystem::path file = folder / "job.ballast";
    const PlanHeader header = tinyHeader();
    struct Killed {};
    {
        Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
        EXPECT_THROW(storeSimulation(workspace, header, shardedPlan(header), {}, "simulated", Clock::Virtual,
                                     [](const SimulatedStep&) { throw Killed(); }),
                     Killed);
    }
    const std::vector<RunRecord> runs = Workspace::open(file, Workspace::Mode::ReadOnly).runs();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].state, RunState::Failed);
    EXPECT_EQ(runs[0].failure, "the simulation was interrupted while it was stored");
}

TEST(StoredSimulation, IsARunWithEveryStepSpanAndFigure) {
    TemporaryDirectory folder;
    Workspace workspace = Workspace::open(folder / "job.ballast", Workspace::Mode::ReadWrite);
    const PlanHeader header = tinyHeader();
    const std::vector<PlanStep> plan = shardedPlan(header);
    int steps = 0;
    const StoredSimulation stored = storeSimulation(workspace, header, plan, {}, "simulated", Clock::Virtual,
                                                    [&](const SimulatedStep&) { ++steps; });
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(stored.steps, 3);
    EXPECT_EQ(stored.tokens, 500 + 600 + 700);
    const RunRecord run = workspace.run(stored.run);
    EXPECT_EQ(run.kind, RunKind::Simulated);
    EXPECT_EQ(run.state, RunState::Done);
    EXPECT_EQ(run.failure, "");
    EXPECT_EQ(run.clock, Clock::Simulated);
    EXPECT_EQ(run.plan, stored.plan);

    Nanoseconds end = 0;
    for (const StepRecord& step : workspace.steps(stored.run)) {
        EXPECT_EQ(step.begin, end) << "steps follow each other";
        end = step.end;
        EXPECT_GT(step.end, step.begin);
        EXPECT_FALSE(step.loss);
        EXPECT_GT(step.imbalanceDegree, 1);
        const StepTimeline timeline = workspace.stepTimeline(stored.run, step.step);
        ASSERT_EQ(timeline.ranks.size(), 4u);
        for (const RankSpans& rank : timeline.ranks) {
            EXPECT_TRUE(rank.recorded);
            EXPECT_FALSE(rank.spans.empty());
        }
    }
    // What the rows say of a rank is what its spans say.
    for (const RankStepRecord& rank : workspace.rankSteps(stored.run)) {
        const StepTimeline timeline = workspace.stepTimeline(stored.run, rank.step);
        const RankBreakdown fromSpans =
            breakdownOf(timeline.ranks[static_cast<std::size_t>(rank.rank)], timeline.begin, timeline.end);
        EXPECT_NEAR(rank.breakdown.computeSeconds(), fromSpans.computeSeconds(), 1e-7);
        EXPECT_NEAR(rank.breakdown.totalSeconds(), toSeconds(timeline.end - timeline.begin).value(), 1e-7);
    }
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

}  // namespace
}  // namespace ballast
