// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/run_directory.h"
#include "core/store/workspace.h"

namespace ballast {

struct RunRequest {
    Scenario scenario;                          ///< used when plan is absent
    std::optional<std::filesystem::path> plan;  ///< a plan file to train as it is
    std::filesystem::path workspace;
    std::optional<std::int64_t> steps;
    std::string device = "cpu";      ///< "cuda" is refused by name
    std::string launcher = "local";  ///< "ssh", "slurm" are refused by name
    std::string clock = "wall";      ///< or "virtual"
    std::optional<std::int64_t> exportStep;
    std::string exportDirectory;
};

/// The argv that would start the ranks (mpirun ... ballast-train --run-directory DIR), for --dry-run and for
/// people to see.
std::vector<std::string> launchCommand(const RunRequest& request, const std::filesystem::path& runDirectory);

/// Plans, stores plan and simulation, creates the run directory. Nothing is started yet. Throws before
/// anything is written when the request is bad.
RunId prepareRun(const RunRequest& request);

/// Starts the runner for a prepared run: the program itself (`ballast internal-runner DIR WORKSPACE ID`) in
/// its own session, stdio to files.
void startRunner(const std::filesystem::path& workspace, RunId run);

/// What the runner process does: takes the lock, starts mpirun (unless ranks are already there), tails the
/// spool into the workspace, ends the run. Returns the state the run ended in.
RunState superviseRun(const std::filesystem::path& workspace, RunId run);

/// Follows a run from outside by polling the workspace; calls `onStep` for each new step. `attach` semantics:
/// when the run's runner is dead and its lock free, this process takes over (superviseRun). Returns the final
/// state, or nothing when `keepFollowing` said no (detached).
struct RunFollower {
    std::function<void(const StepRecord&)> onStep;
    std::function<bool()> keepFollowing;
};
std::optional<RunState> followRun(const std::filesystem::path& workspace, RunId run,
                                  const RunFollower& follower);

/// The state a reader sees: lost when the heartbeat is older than 30 s and the lock free.
RunState currentState(const Workspace& workspace, const RunRecord& run);

/// Stop after the step; then TERM, then KILL of the ranks by pid and start time.
void requestStop(const Workspace& workspace, RunId run);
void killRun(const Workspace& workspace, RunId run);

/// A program of ours: beside the running one, then in PATH. Throws Error naming program and component
/// ("backend").
std::filesystem::path findProgram(const std::string& name);

}  // namespace ballast
