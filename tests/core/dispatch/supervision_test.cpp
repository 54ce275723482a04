// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "core/base/error.h"
#include "core/dispatch/run_processes.h"
#include "core/dispatch/runner.h"
#include "tests/core/dispatch/small_run.h"

namespace ballast {
namespace {

using namespace ballast::testing;

TEST(Supervision, StoresEveryStepOnceAndEndsDone) {
    SmallRun run(6, 20);
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Done);
    EXPECT_EQ(run.reader().run(run.id()).state, RunState::Done);
    EXPECT_EQ(run.wholeSteps(), 6);
    EXPECT_EQ(run.partialSteps(), 0);
    EXPECT_TRUE(run.nothingLeft());
    EXPECT_TRUE(std::filesystem::exists(run.directory().path() / "pids.json"));
    EXPECT_TRUE(run.reader().integrityProblems().empty());
}

TEST(Supervision, NamesTheRankThatWasKilledAndEndsTheOthers) {
    SmallRun run(50, 20, "kill:2:4");
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Failed);
    const RunRecord record = run.reader().run(run.id());
    EXPECT_NE(record.failure.find("rank 2 on " + record.host), std::string::npos) << record.failure;
    EXPECT_EQ(run.wholeSteps(), 4);
    EXPECT_LE(run.partialSteps(), 1);
    EXPECT_TRUE(run.nothingLeft());
    bool lastLine = false;
    for (const LogLine& line : run.reader().log(run.id()))
        lastLine = lastLine || (line.rank == 2 && line.text == "rank 2: step 3 finished");
    EXPECT_TRUE(lastLine) << "the log keeps what the rank printed last";
}

TEST(Supervision, KeepsTheSentenceOfARankThatFailed) {
    SmallRun run(50, 20, "error:1:3");
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Failed);
    const RunRecord record = run.reader().run(run.id());
    EXPECT_EQ(record.failure, "rank 1 on " + record.host + ": ran out of patience");
    EXPECT_EQ(run.wholeSteps(), 3);
    EXPECT_TRUE(run.nothingLeft());
}

TEST(Supervision, FailsWhenTheLauncherNeverStartsARank) {
    SmallRun run(5, 20, "start");
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Failed);
    const RunRecord record = run.reader().run(run.id());
    EXPECT_NE(record.failure.find("exit code 3"), std::string::npos) << record.failure;
}

TEST(Supervision, StopsAfterTheStepOnRequest) {
    SmallRun run(500, 20);
    const int supervisor = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 2; }));
    requestStop(run.reader(), run.id());
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Stopped);
    EXPECT_LT(run.wholeSteps(), 500);
    EXPECT_EQ(run.partialSteps(), 0);
    EXPECT_TRUE(run.nothingLeft());
}

TEST(Supervision, EndsStoppedWhenTheRanksAreKilledOnRequest) {
    SmallRun run(500, 20);
    const int supervisor = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 1; }));
    killRun(run.reader(), run.id());
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Stopped);
    EXPECT_LE(run.partialSteps(), 1);
    EXPECT_TRUE(run.nothingLeft());
}

TEST(Supervision, LosesNothingWhenTheRunnerIsKilledAndAnotherTakesOver) {
    SmallRun run(40, 25);
    const int first = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 3; }));
    SmallRun::kill(first);
    const std::int64_t before = run.wholeSteps();
    EXPECT_LT(before, 40) << "the ranks go on without a runner";
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Done);
    EXPECT_EQ(run.wholeSteps(), 40);
    EXPECT_EQ(run.partialSteps(), 0);
    EXPECT_TRUE(run.nothingLeft());
}

TEST(Supervision, TakesInTheSpoolOfARunThatEndedWhileNobodyLooked) {
    SmallRun run(12, 25);
    const int first = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 1; }));
    SmallRun::kill(first);
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.nothingLeft(); }));
    EXPECT_LT(run.wholeSteps(), 12);
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Done);
    EXPECT_EQ(run.wholeSteps(), 12);
}

TEST(Supervision, EndsARunFailedWhenEverythingOfItWasKilled) {
    SmallRun run(500, 20);
    const int first = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 2; }));
    SmallRun::kill(first);
    for (const RunProcess& process : run.directory().processes())
        process.signal(SIGKILL);
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Failed);
    EXPECT_GE(run.wholeSteps(), 2);
    EXPECT_LE(run.partialSteps(), 1);
    EXPECT_TRUE(run.nothingLeft());
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), RunState::Failed) << "an ended run stays as it is";
}

TEST(Supervision, EndsTheRanksThatAKilledLauncherLeft) {
    SmallRun run(500, 20);
    const int supervisor = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 2; }));
    for (const RunProcess& process : run.directory().processes())
        if (process.rank == kMpirunRank)
            process.signal(SIGKILL);
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Failed);
    const RunRecord record = run.reader().run(run.id());
    EXPECT_NE(record.failure.find("mpirun was killed by signal 9"), std::string::npos) << record.failure;
    EXPECT_TRUE(run.nothingLeft());
}

TEST(Supervision, HasOneRunnerAtATime) {
    SmallRun run(500, 20);
    const int first = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 1; }));
    EXPECT_EQ(SmallRun::waitFor(run.startSupervisor()), std::nullopt);
    requestStop(run.reader(), run.id());
    EXPECT_EQ(SmallRun::waitFor(first), RunState::Stopped);
}

TEST(Supervision, FailsARunWhoseSpoolIsDamaged) {
    SmallRun run(500, 20);
    const int supervisor = run.startSupervisor();
    ASSERT_TRUE(SmallRun::waitUntil([&] { return run.wholeSteps() >= 1; }));
    std::ofstream(run.directory().spoolFile(3), std::ios::app | std::ios::binary)
        << "these are not the bytes of a chunk, and there are enough of them to be read as its header";
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Failed);
    const RunRecord record = run.reader().run(run.id());
    EXPECT_NE(record.failure.find("spool/3"), std::string::npos) << record.failure;
    EXPECT_TRUE(run.nothingLeft());
    EXPECT_TRUE(run.reader().integrityProblems().empty());
}

TEST(Following, SeesEveryStepOnceAndTheEnd) {
    SmallRun run(8, 20);
    const int supervisor = run.startSupervisor();
    std::vector<std::int64_t> seen;
    RunFollower follower;
    follower.onStep = [&](const StepRecord& step) { seen.push_back(step.step); };
    EXPECT_EQ(followRun(run.file(), run.id(), follower), RunState::Done);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Done);
}

TEST(Following, DetachesWithoutEndingTheRun) {
    SmallRun run(10, 20);
    const int supervisor = run.startSupervisor();
    RunFollower follower;
    follower.keepFollowing = [&] { return run.wholeSteps() < 2; };
    EXPECT_EQ(followRun(run.file(), run.id(), follower), std::nullopt);
    EXPECT_EQ(SmallRun::waitFor(supervisor), RunState::Done);
    EXPECT_EQ(run.wholeSteps(), 10);
}

TEST(CurrentState, IsLostWhenTheLastHeartbeatIsOldAndTheLockIsFree) {
    SmallRun run(3, 10);
    Workspace workspace = Workspace::open(run.file(), Workspace::Mode::ReadWrite);
    EXPECT_EQ(currentState(workspace, workspace.run(run.id())), RunState::Planned);
    workspace.setRunState(run.id(), RunState::Running);
    run.directory().writeState(RunState::Running, "");
    EXPECT_EQ(currentState(workspace, workspace.run(run.id())), RunState::Running);
    std::ofstream(run.directory().path() / "state.json")
        << R"({"state": "running", "failure": "", "heartbeat": 1000})";
    EXPECT_EQ(currentState(workspace, workspace.run(run.id())), RunState::Lost);
    workspace.setRunState(run.id(), RunState::Done);
    EXPECT_EQ(currentState(workspace, workspace.run(run.id())), RunState::Done);
}

}  // namespace
}  // namespace ballast
