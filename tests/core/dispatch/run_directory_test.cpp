// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/run_directory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/dispatch/launcher_log.h"
#include "core/dispatch/run_lock.h"
#include "core/dispatch/runner.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

TrainJob someJob() {
    TrainJob job;
    job.scenario = scenarioJson(tinyScenario());
    job.clock = "virtual";
    job.exportStep = 3;
    job.exportDirectory = "/somewhere";
    job.plan = "plan";
    job.arguments = {"mpirun", "-n", "4", "a b"};
    return job;
}

TEST(RunDirectory, GivesBackTheJob) {
    TemporaryDirectory folder;
    const RunDirectory directory(folder / "1");
    directory.create(someJob());
    const TrainJob back = directory.readJob();
    EXPECT_EQ(parseScenario(back.scenario, "run.json"), tinyScenario());
    EXPECT_EQ(back.device, "cpu");
    EXPECT_EQ(back.clock, "virtual");
    EXPECT_EQ(back.exportStep, 3);
    EXPECT_EQ(back.exportDirectory, "/somewhere");
    EXPECT_EQ(back.arguments, someJob().arguments);
}

TEST(RunDirectory, RefusesABrokenJobWithFileAndKey) {
    TemporaryDirectory folder;
    for (const char* text : {"", "{", "[]", "{\"scenario\": {}}", "{\"scenario\": {}, \"device\": 7}"}) {
        folder.write("run.json", text);
        try {
            RunDirectory(folder.path()).readJob();
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
            EXPECT_NE(std::string(error.what()).find("run.json"), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(RunDirectory(folder / "missing").readJob(), Error);
}

TEST(RunDirectory, ListsProcessesByRankWithTheLauncherFirst) {
    TemporaryDirectory folder;
    const RunDirectory directory(folder / "1");
    directory.create(someJob());
    EXPECT_TRUE(directory.processes().empty());
    for (const int rank : {1, 0, kMpirunRank, kRunnerRank})
        directory.recordProcess(RunProcess::current(rank));
    directory.mergeProcesses();
    const std::vector<RunProcess> processes = directory.processes();
    ASSERT_EQ(processes.size(), 4u);
    EXPECT_EQ(processes[0].rank, kRunnerRank);
    EXPECT_EQ(processes[3].rank, 1);
    EXPECT_TRUE(std::filesystem::exists(directory.path() / "pids.json"));
}

TEST(RunDirectory, KeepsStateStopAndTheRanksLastWords) {
    TemporaryDirectory folder;
    const RunDirectory directory(folder / "1");
    directory.create(someJob());
    EXPECT_FALSE(directory.readState());
    directory.writeState(RunState::Failed, "rank 1 died");
    EXPECT_EQ(directory.readState()->state, RunState::Failed);
    EXPECT_EQ(directory.readState()->failure, "rank 1 died");
    EXPECT_FALSE(directory.stopRequested());
    directory.requestStop();
    EXPECT_TRUE(directory.stopRequested());
    EXPECT_FALSE(directory.rankEnd(2));
    directory.writeRankEnd(2, false, "no \"memory\"\n left \xff");
    EXPECT_FALSE(directory.rankEnd(2)->ok);
    EXPECT_EQ(directory.rankEnd(2)->sentence.substr(0, 12), "no \"memory\"\n");
}

TEST(RunProcess, IsNeverTakenForAnotherWithTheSamePid) {
    RunProcess mine = RunProcess::current(0);
    EXPECT_TRUE(mine.alive());
    ++mine.startTime;
    EXPECT_FALSE(mine.alive());
    EXPECT_FALSE(mine.signal(SIGKILL));
    RunProcess elsewhere = RunProcess::current(0);
    elsewhere.host += "-other";
    EXPECT_FALSE(elsewhere.alive());
}

TEST(RunProcess, IsDeadOnceItHasExitedEvenIfNobodyWaitedForIt) {
    const int pid = ::fork();
    if (pid == 0)
        ::pause();
    const RunProcess child = RunProcess::ofPid(0, pid);
    EXPECT_TRUE(child.alive());
    EXPECT_TRUE(child.signal(SIGKILL));
    for (int attempt = 0; attempt < 200 && child.alive(); ++attempt)
        ::usleep(10'000);
    EXPECT_FALSE(child.alive());
    ::waitpid(pid, nullptr, 0);
}

TEST(RunLock, IsReleasedByTheDeathOfItsHolder) {
    TemporaryDirectory folder;
    const std::filesystem::path file = folder / "lock";
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const int pid = ::fork();
    if (pid == 0) {
        const auto held = RunLock::take(file);
        [[maybe_unused]] const auto written = ::write(ready[1], held ? "y" : "n", 1);
        ::pause();
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    EXPECT_TRUE(RunLock::isHeld(file));
    EXPECT_FALSE(RunLock::take(file));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    EXPECT_FALSE(RunLock::isHeld(file));
    EXPECT_TRUE(RunLock::take(file));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(LauncherLog, FindsARanksLastLinesAndWhoEndedTheJob) {
    TemporaryDirectory folder;
    const LauncherLog log(
        folder.write("launcher.log",
                     "[1,0]<stdout>:step 0\n[1,2]<stderr>:bad weights\n[1,2]<stderr>:giving up\n"
                     "mpirun noticed that process rank 2 with PID 77 on node x exited on signal 9\n"));
    EXPECT_EQ(log.lastLines(2, 10), (std::vector<std::string>{"bad weights", "giving up"}));
    EXPECT_EQ(log.lastLines(2, 1), (std::vector<std::string>{"giving up"}));
    EXPECT_EQ(log.lastLines(-1, 10).size(), 1u);
    EXPECT_EQ(log.rankThatEndedTheJob(), 2);
    EXPECT_FALSE(LauncherLog(folder / "missing").rankThatEndedTheJob());
}

TEST(Request, IsRefusedByNameBeforeAnythingIsWritten) {
    TemporaryDirectory folder;
    RunRequest request;
    request.workspace = folder / "job.ballast";
    const auto sentence = [&](RunRequest bad) -> std::string {
        try {
            prepareRun(bad);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
            return error.what();
        }
        return {};
    };
    RunRequest cuda = request;
    cuda.device = "cuda";
    EXPECT_EQ(sentence(cuda), "run: device=cuda is not built yet; use cpu");
    RunRequest ssh = request;
    ssh.launcher = "ssh";
    EXPECT_EQ(sentence(ssh), "run: launcher=ssh is not built yet; use local");
    RunRequest clock = request;
    clock.clock = "sundial";
    EXPECT_NE(sentence(clock).find("clock=sundial"), std::string::npos);
    RunRequest noFolder = request;
    noFolder.exportStep = 1;
    EXPECT_NE(sentence(noFolder).find("export-dir"), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ballast
