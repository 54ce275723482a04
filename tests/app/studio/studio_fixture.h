// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "app/studio/async/workers.h"
#include "app/studio/screenshots.h"
#include "core/job/scenario.h"
#include "core/store/workspace.h"

namespace ballast::studio::testing {

/// A scenario of the demo model on the shipped cluster that plans in milliseconds: window 4096, layout (1, 2,
/// 2, 2), two micro-batches, four steps of the short lengths preset.
Scenario smallScenario(const std::string& packing = "wlb", const std::string& sharding = "adaptive");

/// Stores the simulation of a scenario as `ballast simulate --workspace` does; gives the run.
RunId storeRun(const std::filesystem::path& workspace, const Scenario& scenario);

/// Waits until the workers are idle; a failed wait is a test failure.
void settle(const Workers& workers);

}  // namespace ballast::studio::testing
