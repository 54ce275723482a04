// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "tests/core/store/random_work.h"
#include "tests/support/temporary_directory.h"

#include <sqlite3.h>

namespace ballast {
namespace {

using namespace ballast::testing;
using std::chrono::milliseconds;

/// Another program that holds the write lock.
class LockHolder {
  public:
    explicit LockHolder(const std::filesystem::path& file) {
        EXPECT_EQ(sqlite3_open(file.c_str(), &handle_), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    }
    void release() { sqlite3_exec(handle_, "COMMIT", nullptr, nullptr, nullptr); }
    ~LockHolder() { sqlite3_close(handle_); }
    LockHolder(const LockHolder&) = delete;
    LockHolder& operator=(const LockHolder&) = delete;

  private:
    sqlite3* handle_ = nullptr;
};

// research field case 48: four writers and a reader that loops; WAL alone is not enough.
TEST(BusyWorkspace, LosesNoRowOfFourWritersWhileAReaderLoops) {
    constexpr int kWriters = 4;
    constexpr int kSteps = 150;
    TemporaryDirectory folder;
    const std::filesystem::path file = folder / "job.ballast";
    std::vector<RunId> runs;
    {
        Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
        for (int writer = 0; writer < kWriters; ++writer)
            runs.push_back(workspace.addRun(measuredRun({1, 1, 1, 2})));
    }
    std::atomic<int> writing = kWriters;
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int writer = 0; writer < kWriters; ++writer) {
        threads.emplace_back([&, writer] {
            try {
                Random random(static_cast<std::uint64_t>(writer));
                Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
                for (std::int64_t step = 0; step < kSteps; ++step) {
                    // A look before the write, as every program does it.
                    EXPECT_EQ(workspace.steps(runs[writer]).size(), static_cast<std::size_t>(step));
                    workspace.addStep(runs[writer], {.step = step}, randomTimeline(random, step, 2), {});
                }
            } catch (const Error& error) {
                ++failures;
                ADD_FAILURE() << error.what();
            }
            --writing;
        });
    }
    threads.emplace_back([&] {
        try {
            Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
            while (writing > 0) {
                for (const RunId run : runs)
                    for (const StepRecord& step : workspace.steps(run))
                        if (step.step == kSteps / 2)
                            workspace.stepTimeline(run, step.step);
            }
        } catch (const Error& error) {
            ++failures;
            ADD_FAILURE() << error.what();
        }
    });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(failures, 0);
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    for (const RunId run : runs)
        EXPECT_EQ(workspace.steps(run).size(), static_cast<std::size_t>(kSteps));
    EXPECT_TRUE(workspace.integrityProblems().empty());
}

TEST(BusyWorkspace, WaitsForAWriterThatLetsGo) {
    TemporaryDirectory folder;
    Workspace workspace = Workspace::open(folder / "job.ballast", Workspace::Mode::ReadWrite);
    LockHolder holder(workspace.path());
    std::thread later([&] {
        std::this_thread::sleep_for(milliseconds(700));
        holder.release();
    });
    EXPECT_EQ(workspace.addScenario("{}", std::nullopt, "patient"), 1);
    later.join();
}

TEST(BusyWorkspace, SaysThatItIsBusyAndStillReads) {
    TemporaryDirectory folder;
    Workspace workspace = Workspace::open(folder / "job.ballast", Workspace::Mode::ReadWrite);
    workspace.addScenario("{}", std::nullopt, "before");
    LockHolder holder(workspace.path());
    workspace.setPatience(milliseconds(500));
    try {
        workspace.addScenario("{}", std::nullopt, "refused");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::WorkFailed);
        EXPECT_EQ(std::string(error.what()), "workspace " + workspace.path().string() +
                                                 " is busy: another program has held it for 0.5 s");
    }
    EXPECT_EQ(workspace.scenarios().size(), 1u);
    holder.release();
    EXPECT_EQ(workspace.addScenario("{}", std::nullopt, "after"), 2);
}

TEST(BusyWorkspace, IsMadeOnceWhenManyOpenItAtTheSameTime) {
    TemporaryDirectory folder;
    const std::filesystem::path file = folder / "job.ballast";
    std::vector<std::thread> threads;
    for (int opener = 0; opener < 6; ++opener) {
        threads.emplace_back([&] {
            try {
                Workspace::open(file, Workspace::Mode::ReadWrite).addScenario("{}", std::nullopt, "one");
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(Workspace::open(file, Workspace::Mode::ReadOnly).scenarios().size(), 6u);
}

}  // namespace
}  // namespace ballast
