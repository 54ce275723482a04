// SPDX-License-Identifier: Apache-2.0
#include "core/store/ingest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "tests/core/store/random_work.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

constexpr int kRanks = 4;

class Ingest : public ::testing::Test {
  protected:
    TemporaryDirectory folder;
    std::filesystem::path spool = folder / "spool";
    Workspace workspace = Workspace::open(folder / "job.ballast", Workspace::Mode::ReadWrite);
    std::vector<PlanStep> plan;
    RunId run = 0;

    Ingest() {
        std::filesystem::create_directories(spool);
        Random random(31);
        for (std::int64_t step = 0; step < 8; ++step)
            plan.push_back(randomPlanStep(random, step, {1, 2, 1, 2}, 2));
        RunRecord record = measuredRun({1, 2, 1, 2});
        record.plan = workspace.addPlan(tinyHeader(), plan, {});
        run = workspace.addRun(record);
    }

    /// Rank r of step s: computes for 10 + r ms from s * 100 ms, then ends at s * 100 + 90 + r ms.
    void append(int rank, std::int64_t step) const {
        const Nanoseconds begin = step * 100'000'000;
        StepReport report;
        report.step = step;
        report.begin = begin;
        report.end = begin + (90 + rank) * 1'000'000;
        report.tokens = plan[static_cast<std::size_t>(step)].tokens();
        report.targets = plan[static_cast<std::size_t>(step)].targets();
        report.lossSum = 2.5 * static_cast<double>(report.targets);
        report.peakBytes[3] = 1000 + rank;
        Span span;
        span.kind = SpanKind::LinearForward;
        span.lane = Lane::Compute;
        span.begin = span.waitingUntil = begin;
        span.end = begin + (10 + rank) * 1'000'000;
        SpoolWriter(spool / std::to_string(rank), rank).append(report, {span});
    }
    void appendAll(std::int64_t step) const {
        for (int rank = 0; rank < kRanks; ++rank)
            append(rank, step);
    }
};

TEST_F(Ingest, StoresAStepOnceEveryRankHasFinishedIt) {
    SpoolIngest ingest(workspace, run, spool);
    EXPECT_EQ(ingest.storeFinishedSteps(), 0);
    for (int rank = 0; rank < kRanks; ++rank) {
        EXPECT_EQ(ingest.storeFinishedSteps(), 0) << rank;
        append(rank, 0);
    }
    EXPECT_EQ(ingest.storeFinishedSteps(), 1);
    EXPECT_EQ(ingest.storeFinishedSteps(), 0);
    const std::vector<StepRecord> steps = workspace.steps(run);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_TRUE(steps[0].complete);
    EXPECT_EQ(steps[0].begin, 0);
    EXPECT_EQ(steps[0].end, 93'000'000);
    EXPECT_DOUBLE_EQ(*steps[0].loss, 2.5);
    EXPECT_EQ(steps[0].tokens, plan[0].tokens());
    EXPECT_GE(steps[0].imbalanceDegree, 1);
}

TEST_F(Ingest, TimesAStepFromTheLatestEndOfTheOneBefore) {
    appendAll(0);
    appendAll(1);
    SpoolIngest(workspace, run, spool).storeFinishedSteps();
    const std::vector<StepRecord> steps = workspace.steps(run);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].begin, 93'000'000);
    EXPECT_EQ(steps[1].end, 193'000'000);
    // Compute of rank 2 in step 1: 12 ms; the parts sum to the step time of 100 ms.
    const RankStepRecord rank = workspace.rankSteps(run)[kRanks + 2];
    EXPECT_EQ(rank.rank, 2);
    EXPECT_NEAR(rank.breakdown.computeSeconds(), 0.012, 1e-12);
    EXPECT_NEAR(rank.breakdown.totalSeconds(), 0.100, 1e-12);
    EXPECT_EQ(rank.peakBytes[3], 1002);
}

TEST_F(Ingest, GoesOnWhereAKilledProgramLeftOff) {
    for (std::int64_t step = 0; step < 5; ++step)
        appendAll(step);
    EXPECT_EQ(SpoolIngest(workspace, run, spool).storeFinishedSteps(), 5);
    appendAll(5);
    append(0, 6);
    SpoolIngest again(workspace, run, spool);
    EXPECT_EQ(again.finishedSteps(), 5);
    EXPECT_EQ(again.storeFinishedSteps(), 1);
    EXPECT_EQ(workspace.steps(run).size(), 6u);
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

TEST_F(Ingest, KeepsTheStepTheRunEndedInAsPartialWithTheMissingRanks) {
    appendAll(0);
    append(0, 1);
    append(2, 1);
    std::ofstream(spool / "3", std::ios::app | std::ios::binary) << "torn";
    SpoolIngest ingest(workspace, run, spool);
    EXPECT_EQ(ingest.storeFinishedSteps(), 1);
    EXPECT_TRUE(ingest.storePartialStep());
    const std::vector<StepRecord> steps = workspace.steps(run);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_FALSE(steps[1].complete);
    EXPECT_EQ(steps[1].missingRanks, (std::vector<int>{1, 3}));
    const StepTimeline timeline = workspace.stepTimeline(run, 1);
    EXPECT_FALSE(timeline.complete);
    EXPECT_TRUE(timeline.ranks[0].recorded);
    EXPECT_FALSE(timeline.ranks[1].recorded);
    // Whoever attaches later stores the same again, once.
    SpoolIngest again(workspace, run, spool);
    EXPECT_EQ(again.storeFinishedSteps(), 0);
    EXPECT_TRUE(again.storePartialStep());
    EXPECT_EQ(workspace.steps(run).size(), 2u);
}

TEST_F(Ingest, HasNoPartialStepWhenTheRunEndedBetweenSteps) {
    appendAll(0);
    SpoolIngest ingest(workspace, run, spool);
    ingest.storeFinishedSteps();
    EXPECT_FALSE(ingest.storePartialStep());
}

TEST_F(Ingest, RefusesADamagedChunkWithFileAndOffset) {
    appendAll(0);
    appendAll(1);
    std::fstream file(spool / "2", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-20, std::ios::end);
    file.put('!');
    file.close();
    SpoolIngest ingest(workspace, run, spool);
    try {
        ingest.storeFinishedSteps();
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("spool/2"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("byte 456"), std::string::npos) << error.what();
    }
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

TEST_F(Ingest, RefusesAStepThatIsNotAsPlanned) {
    plan[0].microBatches[0].batch.pieces[0].end += 1;
    plan[0].microBatches[0].batch.tokens += 1;
    append(0, 0);
    SpoolIngest ingest(workspace, run, spool);
    EXPECT_THROW(ingest.storeFinishedSteps(), Error);
    EXPECT_TRUE(workspace.steps(run).empty());
}

}  // namespace
}  // namespace ballast
