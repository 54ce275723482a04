// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/dispatch/run_lock.h"
#include "core/dispatch/run_processes.h"
#include "core/dispatch/supervisor.h"
#include "core/dispatch/waiting_time.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPoll(100);
constexpr milliseconds kGrace(3000);
/// A heartbeat comes every second; after 30 s without one and with the lock free the run counts as lost.
constexpr std::int64_t kLostAfterSeconds = 30;
/// A runner that was just started needs a moment until it holds the lock.
constexpr seconds kStartOfRunner(10);

bool hasEnded(RunState state) {
    return state == RunState::Done || state == RunState::Stopped || state == RunState::Failed;
}

std::int64_t now() {
    return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::filesystem::path ballastProgram() {
    std::error_code problem;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
    return !problem && self.filename() == "ballast" ? self : findProgram("ballast");
}

std::optional<RunProcess> recordedRunner(const RunDirectory& directory) {
    const std::vector<RunProcess> processes = directory.processes();
    const auto runner = std::ranges::find(processes, kRunnerRank, &RunProcess::rank);
    return runner == processes.end() ? std::nullopt : std::optional(*runner);
}

/// Watches whether a run still has its runner; a run without one is taken over.
class RunnerWatch {
  public:
    explicit RunnerWatch(const RunDirectory& directory) : directory_(directory) {}

    bool runnerIsGone() {
        if (RunLock::isHeld(directory_.lockFile())) {
            free_.reset();
            return false;
        }
        const std::optional<RunProcess> runner = recordedRunner(directory_);
        const auto patience =
            runner && !runner->alive() && !restarted_ ? milliseconds(500) : milliseconds(kStartOfRunner);
        return free_.elapsed() >= patience;
    }
    void restarted() {
        restarted_ = true;
        free_.reset();
    }

  private:
    const RunDirectory& directory_;
    WaitingTime free_;
    bool restarted_ = false;
};

/// A runner of its own where the program is there, so that whoever follows may go without ending the run.
void takeOver(const std::filesystem::path& workspace, RunId run) {
    bool there = true;
    try {
        ballastProgram();
    } catch (const Error&) {
        there = false;
    }
    if (there)
        startRunner(workspace, run);
    else
        superviseRun(workspace, run);
}

}  // namespace

void startRunner(const std::filesystem::path& workspace, RunId run) {
    const std::filesystem::path file = std::filesystem::absolute(workspace);
    const RunDirectory directory(Workspace::open(file, Workspace::Mode::ReadOnly).runDirectory(run));
    startDetached({ballastProgram().string(), "internal-runner", directory.path().string(), file.string(),
                   std::to_string(run)},
                  directory.logFile("runner.log"));
}

RunState superviseRun(const std::filesystem::path& workspace, RunId run) {
    const std::filesystem::path file = std::filesystem::absolute(workspace);
    std::filesystem::path folder;
    {
        const Workspace reader = Workspace::open(file, Workspace::Mode::ReadOnly);
        if (const RunRecord record = reader.run(run); record.kind != RunKind::Measured)
            throw Error(fmt::format("{}: run {} is {}, expected a measured one", file.string(), run,
                                    runKindName(record.kind)));
        folder = reader.runDirectory(run);
    }
    const RunDirectory directory(folder);
    const std::optional<RunLock> lock = RunLock::take(directory.lockFile());
    if (!lock)
        throw Error(fmt::format("{}: run {} has a runner already (it holds {})", file.string(), run,
                                directory.lockFile().string()),
                    ErrorCode::WorkFailed);
    const RunState state = Workspace::open(file, Workspace::Mode::ReadOnly).run(run).state;
    if (hasEnded(state))
        return state;
    return Supervisor(file, run).supervise();
}

std::optional<RunState> followRun(const std::filesystem::path& workspace, RunId run,
                                  const RunFollower& follower) {
    const Workspace reader = Workspace::open(std::filesystem::absolute(workspace), Workspace::Mode::ReadOnly);
    const RunDirectory directory(reader.runDirectory(run));
    RunnerWatch watch(directory);
    std::int64_t lastRow = 0;
    for (;;) {
        // The state first: a run that has ended then has all of its steps there.
        const RunState state = reader.run(run).state;
        for (const StepRecord& step : reader.stepsAfter(run, lastRow)) {
            lastRow = step.id;
            if (follower.onStep)
                follower.onStep(step);
        }
        if (hasEnded(state))
            return state;
        if (follower.keepFollowing && !follower.keepFollowing())
            return std::nullopt;
        if (watch.runnerIsGone()) {
            watch.restarted();
            takeOver(reader.path(), run);
        }
        std::this_thread::sleep_for(kPoll);
    }
}

RunState currentState(const Workspace& workspace, const RunRecord& run) {
    if (run.kind != RunKind::Measured || (run.state != RunState::Running && run.state != RunState::Stopping))
        return run.state;
    const RunDirectory directory(workspace.runDirectory(run.id));
    if (RunLock::isHeld(directory.lockFile()))
        return run.state;
    const auto state = directory.readState();
    return !state || now() - state->heartbeat > kLostAfterSeconds ? RunState::Lost : run.state;
}

void requestStop(const Workspace& workspace, RunId run) {
    const RunDirectory directory(workspace.runDirectory(workspace.run(run).id));
    directory.requestStop();
}

void killRun(const Workspace& workspace, RunId run) {
    const RunDirectory directory(workspace.runDirectory(workspace.run(run).id));
    directory.requestKill();
    endProcesses(directory, kGrace);
}

}  // namespace ballast
