// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/dispatch/run_directory.h"

namespace ballast {

/// Processes of this machine that were started with "--run-directory <directory>": mpirun and the ranks,
/// those too that have not recorded themselves yet. Read from /proc.
std::vector<RunProcess> startedFor(const RunDirectory& directory);

/// TERM, then after `grace` KILL, to mpirun and every rank of the run, by pid and start time; returns when
/// none is left, or false when some outlive a KILL by 5 s.
bool endProcesses(const RunDirectory& directory, std::chrono::milliseconds grace);

/// Forks and executes argv[0] (searched in PATH) in a session of its own, standard input empty, output and
/// errors appended to `log`, `environment` ("NAME=value") added; the child records itself as mpirun of the
/// run before it becomes the program, so that it is never running unrecorded. Returns its pid. Call from a
/// program with one thread. Throws Error (WorkFailed).
int launchRecorded(const RunDirectory& directory, const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment, const std::filesystem::path& log);

/// Starts a program in a session of its own with its output appended to `log`; safe with threads.
int startDetached(const std::vector<std::string>& argv, const std::filesystem::path& log);

}  // namespace ballast
