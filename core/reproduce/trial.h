// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/job/scenario.h"
#include "core/simulator/step_work.h"

namespace ballast {

/// The layouts and models of WLB-LLM's evaluation (OSDI 2025, Table 1; degrees printed there as TP, CP, PP,
/// DP).
struct PaperConfiguration {
    std::string name;  ///< "7B-128K"
    std::string model;
    std::int64_t window = 0;
    Layout layout;
};
const std::vector<PaperConfiguration>& paperConfigurations();
const PaperConfiguration& paperConfiguration(std::string_view name);

/// The scenario of a configuration on the shipped lengths: PP * DP windows a global batch (section 6.1), so
/// pp micro-batches a dp rank.
Scenario paperScenario(const PaperConfiguration& configuration);

/// The scenario with a packing and a sharding strategy.
Scenario withStrategies(Scenario scenario, std::string packing, std::string sharding);

/// Figures of a scenario's packing alone.
struct PackingTrial {
    double imbalanceDegree = 1;  ///< mean over full steps of max / mean workload, as the paper's Table 2
    double meanDelaySteps = 0;
    double packMilliseconds = 0;  ///< mean over the steps
};
PackingTrial tryPacking(const Scenario& scenario, std::int64_t steps, CostPass pass);

/// Simulated seconds per token over the whole stream, drain included; `change` may alter each step's work
/// first.
double secondsPerToken(const Scenario& scenario, std::int64_t steps,
                       const std::function<StepWork(StepWork)>& change = {});

}  // namespace ballast
