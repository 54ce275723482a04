// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/dispatch/run_directory.h"

namespace ballast {

/// A folder in memory for what mpirun and the ranks share while a run lives (sockets, segments of 4 MiB a
/// rank). A killed mpirun leaves them behind; in a folder of the run's own they go with the run. Linked from
/// the run directory as `scratch`, so that any later runner finds it. Returns the variables ("NAME=value")
/// that make Open MPI use it; none when no folder can be made.
std::vector<std::string> makeScratchFolder(const RunDirectory& directory);

/// Removes the folder and its link; does nothing when there is none.
void removeScratchFolder(const RunDirectory& directory);

}  // namespace ballast
