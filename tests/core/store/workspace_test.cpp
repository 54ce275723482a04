// SPDX-License-Identifier: Apache-2.0
#include "core/store/workspace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "tests/core/store/random_work.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

class WorkspaceFile : public ::testing::Test {
  protected:
    TemporaryDirectory folder;
    std::filesystem::path file = folder / "job.ballast";

    Workspace open(Workspace::Mode mode = Workspace::Mode::ReadWrite) const {
        return Workspace::open(file, mode);
    }
};

TEST_F(WorkspaceFile, GivesBackEveryFieldOfARun) {
    RunRecord run = measuredRun({2, 3, 1, 2});
    RunId id = 0;
    {
        Workspace workspace = open();
        run.prediction = workspace.addRun(measuredRun({1, 1, 1, 1}));
        id = workspace.addRun(run);
        workspace.setRunState(id, RunState::Failed, "rank 3 died");
    }
    const RunRecord back = open(Workspace::Mode::ReadOnly).run(id);
    EXPECT_EQ(back.kind, RunKind::Measured);
    EXPECT_EQ(back.state, RunState::Failed);
    EXPECT_EQ(back.failure, "rank 3 died");
    EXPECT_EQ(back.clock, Clock::Virtual);
    EXPECT_EQ(back.layout, (Layout{2, 3, 1, 2}));
    EXPECT_EQ(back.name, run.name);
    EXPECT_EQ(back.scenario, run.scenario);
    EXPECT_EQ(back.tokensAre, run.tokensAre);
    EXPECT_EQ(back.host, run.host);
    EXPECT_EQ(back.prediction, run.prediction);
    EXPECT_EQ(back.plan, std::nullopt);
    EXPECT_EQ(back.createdAt, run.createdAt);
    EXPECT_EQ(back.plannedSteps, 12);
    EXPECT_EQ(back.costModelVersion, 1);
}

TEST_F(WorkspaceFile, ACopyOfTheFileAloneIsWholeOnceItsWriterIsGoneThoughAReaderStays) {
    std::optional<Workspace> writer = open();
    const Workspace reader = open(Workspace::Mode::ReadOnly);
    const RunId id = writer->addRun(measuredRun({1, 1, 1, 1}));
    EXPECT_EQ(reader.run(id).id, id);
    writer.reset();
    const std::filesystem::path copy = folder / "copy.ballast";
    std::filesystem::copy_file(file, copy);
    EXPECT_EQ(Workspace::open(copy, Workspace::Mode::ReadOnly).runs().size(), 1U);
}

TEST_F(WorkspaceFile, GivesBackRandomTimelinesSpanForSpan) {
    Random random(7);
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({1, 2, 2, 2}));
    std::vector<StepTimeline> written;
    for (std::int64_t step = 0; step < 6; ++step) {
        written.push_back(randomTimeline(random, step, 8));
        StepRecord record;
        record.step = step;
        record.begin = written.back().begin;
        record.end = written.back().end;
        workspace.addStep(run, record, written.back(), {});
    }
    const Workspace reader = open(Workspace::Mode::ReadOnly);
    for (const StepTimeline& timeline : written) {
        const StepTimeline back = reader.stepTimeline(run, timeline.step);
        EXPECT_EQ(back.begin, timeline.begin);
        EXPECT_EQ(back.end, timeline.end);
        ASSERT_EQ(back.ranks.size(), timeline.ranks.size());
        for (std::size_t rank = 0; rank < back.ranks.size(); ++rank) {
            EXPECT_EQ(back.ranks[rank].recorded, timeline.ranks[rank].recorded);
            EXPECT_EQ(back.ranks[rank].spans, timeline.ranks[rank].spans);
        }
    }
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

TEST_F(WorkspaceFile, GivesBackWhatEachRankDidInAStep) {
    Random random(8);
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({1, 2, 1, 2}));
    std::vector<RankStepRecord> written;
    for (std::int64_t step = 0; step < 3; ++step) {
        std::vector<RankStepRecord> figures;
        for (int rank = 0; rank < 4; ++rank)
            figures.push_back(randomRankStep(random, step, rank));
        written.insert(written.end(), figures.begin(), figures.end());
        workspace.addStep(run, {.step = step}, {.step = step, .ranks = {}}, figures);
    }
    const std::vector<RankStepRecord> back = workspace.rankSteps(run);
    ASSERT_EQ(back.size(), written.size());
    for (std::size_t index = 0; index < back.size(); ++index) {
        EXPECT_EQ(back[index].step, written[index].step);
        EXPECT_EQ(back[index].rank, written[index].rank);
        EXPECT_EQ(back[index].breakdown.kindSeconds, written[index].breakdown.kindSeconds);
        EXPECT_EQ(back[index].breakdown.waitingByKindSeconds, written[index].breakdown.waitingByKindSeconds);
        EXPECT_EQ(back[index].breakdown.waitingSeconds, written[index].breakdown.waitingSeconds);
        EXPECT_EQ(back[index].breakdown.pipelineIdleSeconds, written[index].breakdown.pipelineIdleSeconds);
        EXPECT_TRUE(std::ranges::equal(back[index].peakBytes, written[index].peakBytes));
    }
}

TEST_F(WorkspaceFile, GivesBackAPlanExactly) {
    Random random(9);
    std::vector<PlanStep> steps;
    for (std::int64_t step = 0; step < 4; ++step)
        steps.push_back(randomPlanStep(random, step, {1, 2, 2, 1}, 3));
    const std::vector<Discard> discards = {{7, 0, 99, "longer than the window: dropped"}};
    Workspace workspace = open();
    const std::int64_t plan = workspace.addPlan(tinyHeader(), steps, discards);

    const std::vector<PlanStep> back = workspace.planSteps(plan);
    ASSERT_EQ(back.size(), steps.size());
    for (std::size_t index = 0; index < steps.size(); ++index) {
        EXPECT_EQ(back[index].step, steps[index].step);
        EXPECT_EQ(back[index].kind, steps[index].kind);
        EXPECT_EQ(back[index].packMilliseconds, steps[index].packMilliseconds);
        EXPECT_EQ(back[index].carried.queuedTokens, steps[index].carried.queuedTokens);
        ASSERT_EQ(back[index].microBatches.size(), steps[index].microBatches.size());
        for (std::size_t place = 0; place < steps[index].microBatches.size(); ++place) {
            const PlannedMicroBatch& mine = steps[index].microBatches[place];
            const PlannedMicroBatch& theirs = back[index].microBatches[place];
            EXPECT_EQ(theirs.batch.dp, mine.batch.dp);
            EXPECT_EQ(theirs.batch.index, mine.batch.index);
            EXPECT_EQ(theirs.batch.tokens, mine.batch.tokens);
            EXPECT_EQ(theirs.batch.work, mine.batch.work);
            EXPECT_EQ(theirs.batch.pieces, mine.batch.pieces);
            EXPECT_EQ(theirs.sharding, mine.sharding);
        }
    }
    EXPECT_EQ(workspace.planDiscards(plan), discards);
    const PlanHeader header = workspace.planHeader(plan);
    EXPECT_EQ(header.scenario, tinyHeader().scenario);
    EXPECT_EQ(header.model, tinyHeader().model);
    EXPECT_EQ(header.cluster, tinyHeader().cluster);
    EXPECT_EQ(header.chosen, tinyHeader().chosen);
    EXPECT_EQ(header.notices, tinyHeader().notices);
    EXPECT_EQ(workspace.plan(plan).steps, 4);
    EXPECT_EQ(workspace.microBatches(plan).size(), 4u * 6u);
}

TEST_F(WorkspaceFile, KnowsPlansOverTheSamePiecesByTheirContent) {
    Random random(10);
    std::vector<PlanStep> steps = {randomPlanStep(random, 0, {1, 1, 2, 1}, 2),
                                   randomPlanStep(random, 1, {1, 1, 2, 1}, 2)};
    Workspace workspace = open();
    const std::string content = workspace.plan(workspace.addPlan(tinyHeader(), steps, {})).content;
    std::swap(steps[0].microBatches[0].batch.pieces, steps[1].microBatches[1].batch.pieces);
    EXPECT_EQ(workspace.plan(workspace.addPlan(tinyHeader(), steps, {})).content, content);
    ++steps[0].microBatches[0].batch.pieces[0].end;
    EXPECT_NE(workspace.plan(workspace.addPlan(tinyHeader(), steps, {})).content, content);
}

TEST_F(WorkspaceFile, ReplacesAPartialStepAndItsSpansUnderANewRow) {
    Random random(11);
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({1, 1, 1, 4}));
    workspace.addStep(run, {.step = 0, .complete = false, .missingRanks = {1, 3}},
                      randomTimeline(random, 0, 4), {randomRankStep(random, 0, 0)});
    const std::vector<StepRecord> before = workspace.steps(run);
    ASSERT_EQ(before.size(), 1u);
    EXPECT_FALSE(before[0].complete);
    EXPECT_EQ(before[0].missingRanks, (std::vector<int>{1, 3}));

    const StepTimeline whole = randomTimeline(random, 0, 4);
    workspace.addStep(run, {.step = 0}, whole, {});
    const std::vector<StepRecord> after = workspace.stepsAfter(run, before[0].id);
    ASSERT_EQ(after.size(), 1u);
    EXPECT_TRUE(after[0].complete);
    EXPECT_EQ(workspace.steps(run).size(), 1u);
    EXPECT_EQ(workspace.stepTimeline(run, 0).ranks[0].spans, whole.ranks[0].spans);
    EXPECT_TRUE(workspace.rankSteps(run).empty());
    EXPECT_THROW(workspace.addStep(run, {.step = 0}, whole, {}), Error) << "a whole step stands";
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

TEST_F(WorkspaceFile, KeepsNothingOfAStepThatCannotBeStored) {
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({1, 1, 1, 2}));
    Random random(12);
    const StepTimeline tooManyRanks = randomTimeline(random, 0, 3);
    EXPECT_THROW(workspace.addStep(run, {.step = 0}, tooManyRanks, {}), Error);
    EXPECT_TRUE(workspace.steps(run).empty());
    EXPECT_TRUE(workspace.integrityProblems().empty());
    EXPECT_THROW(workspace.stepTimeline(run, 0), Error);
}

TEST_F(WorkspaceFile, KeepsAbsentLossAndNormAbsent) {
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({}));
    workspace.addStep(run, {.step = 0, .gradientNorm = std::nan("")}, {}, {});
    workspace.addStep(run, {.step = 1, .loss = 5.25, .gradientNorm = 2.5}, {.step = 1, .ranks = {}}, {});
    const std::vector<StepRecord> steps = workspace.steps(run);
    EXPECT_FALSE(steps[0].loss);
    EXPECT_TRUE(std::isnan(steps[0].gradientNorm));
    EXPECT_EQ(steps[1].loss, 5.25);
    EXPECT_EQ(steps[1].gradientNorm, 2.5);
}

TEST_F(WorkspaceFile, KeepsScenariosAsATree) {
    Workspace workspace = open();
    EXPECT_FALSE(workspace.latestScenario());
    const std::int64_t root = workspace.addScenario("{\"a\": 1}", std::nullopt, "first");
    const std::int64_t child = workspace.addScenario("{\"a\": 2}", root, "what if");
    EXPECT_EQ(workspace.latestScenario(), "{\"a\": 2}");
    const std::vector<ScenarioRecord> scenarios = workspace.scenarios();
    ASSERT_EQ(scenarios.size(), 2u);
    EXPECT_EQ(scenarios[1].id, child);
    EXPECT_EQ(scenarios[1].parent, root);
    EXPECT_THROW(workspace.addScenario("{}", 99, "orphan"), Error);
}

TEST_F(WorkspaceFile, NamesTheRunThatIsNotThere) {
    try {
        open().run(41);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("no run 41"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("job.ballast"), std::string::npos) << error.what();
    }
}

TEST_F(WorkspaceFile, KeepsTheLogInOrder) {
    Workspace workspace = open();
    const RunId run = workspace.addRun(measuredRun({}));
    workspace.addLog(run, {{1, 0, "first"}, {2, -1, "second"}});
    workspace.addLog(run, {{3, 0, "third"}});
    const std::vector<LogLine> log = workspace.log(run);
    ASSERT_EQ(log.size(), 3u);
    EXPECT_EQ(log[1].text, "second");
    EXPECT_EQ(log[1].rank, -1);
    EXPECT_EQ(log[2].text, "third");
}

}  // namespace
}  // namespace ballast
