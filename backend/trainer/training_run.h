// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "backend/comm/transport.h"

namespace ballast::backend {

/// One rank of a run from its run directory (formats.md): reads the job and the plan, trains every step,
/// appends each step's spans to the rank's spool file before it enters the next one, and ends after the step
/// in which somebody asked for a stop. Progress goes to standard output, a line a step and rank:
///   rank 3: step 17 finished
/// and from rank 0 the step's loss, tokens and time.
///
/// Every rank of the job calls it. Throws AgreedError, the same sentence on all ranks, for what a rank finds
/// at an agreement (a damaged plan, a full disk); anything else that it throws happened on this rank alone,
/// inside a step, and the job has to be aborted.
void runTraining(const std::filesystem::path& runDirectory, Transport& transport);

}  // namespace ballast::backend
