// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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
/// `plan` may come from a Planner or a plan file; the clock of the run that is predicted decides whether
/// overlap slowdown counts (planner.md, section 9). Spans are kept for the first steps, up to kSpansKept;
/// later ones keep their figures and are marked as not recorded. `stepDone` is called after each step.
StoredSimulation storeSimulation(Workspace& workspace, const PlanHeader& header,
                                 const std::vector<PlanStep>& steps, const std::vector<Discard>& discards,
                                 const std::string& name, Clock predicted = Clock::Virtual,
                                 const std::function<void(const SimulatedStep&)>& stepDone = {});

/// Spans of one stored simulation: some 300 MB of workspace.
inline constexpr std::int64_t kSpansKept = 3'000'000;

}  // namespace ballast
