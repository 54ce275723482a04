// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/simulator/simulation.h"
#include "core/store/workspace.h"

namespace ballast {

/// Plans a scenario, simulates every step and stores plan and simulation as a run of kind simulated, step by
/// step.
struct StoredSimulation {
    std::int64_t plan = 0;
    RunId run = 0;
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
};
/// `plan` may come from a Planner or a plan file; the clock decides whether overlap slowdown counts.
StoredSimulation storeSimulation(Workspace& workspace, const PlanHeader& header,
                                 const std::vector<PlanStep>& steps, const std::vector<Discard>& discards,
                                 const std::string& name);

}  // namespace ballast
