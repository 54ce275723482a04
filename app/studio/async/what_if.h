// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/planner.h"
#include "core/simulator/simulator.h"

namespace ballast::studio {

/// The figures of a planned and simulated scenario, as `ballast simulate --steps K` gives them.
struct WhatIfFigures {
    double medianStepSeconds = 0;
    double p5StepSeconds = 0;
    double p95StepSeconds = 0;
    double secondsPerToken = 0;  ///< sum of step times / sum of tokens, drain included
    double tokensPerSecond = 0;
    double imbalanceDegree = 0;  ///< sum of max / sum of mean
    double meanDelaySteps = 0;
    double bubble = 0;
    double bubbleSchedule = 0;
    std::optional<double> mfu;  ///< absent when the cluster states no peak for the precision
    PeakMemory memory;
    RankBreakdown breakdown;  ///< mean over ranks and steps
    std::int64_t tokens = 0;
};

/// One scenario, planned and simulated. Immutable once made: the window holds it as shared_ptr<const>.
struct SimulatedScenario {
    std::shared_ptr<Planner> planner;  ///< keeps cost model and header alive
    std::vector<PlanStep> plan;
    std::vector<SimulatedStep> steps;  ///< figures alone; spans come from simulateOne
    WhatIfFigures figures;
    std::vector<std::string> notices;
    std::int64_t batches = 0;  ///< global batches taken; the other steps are the drain

    const PlanHeader& header() const { return planner->header(); }
    const CostModel& cost() const { return planner->cost(); }
};

/// What one edit shows: the scenario and, on the same lengths, what it is held against.
struct WhatIf {
    Scenario scenario;
    bool coarse = false;  ///< a few steps only, the rest follows
    std::shared_ptr<const SimulatedScenario> chosen;
    std::shared_ptr<const SimulatedScenario> baseline;  ///< sequential + per-sequence; null with a problem
    std::string baselineProblem;
};

/// The scenario as it would be without balancing: packing `sequential`, sharding `per-sequence`.
Scenario unbalanced(Scenario scenario);

/// Plans and simulates `batches` global batches and the drain. Gives nothing when `cancelled` says so between
/// steps. Throws what the planner throws.
std::shared_ptr<const SimulatedScenario> simulateScenario(const Scenario& scenario, std::int64_t batches,
                                                          const std::function<bool()>& cancelled);

/// One step with all its spans, as the timeline shows it.
std::shared_ptr<const StepTimeline> simulateOne(const SimulatedScenario& scenario, std::size_t index);

/// The steps that the window simulates: the scenario's own number, at most kWhatIfBatches.
inline constexpr std::int64_t kWhatIfBatches = 20;
inline constexpr std::int64_t kCoarseBatches = 3;
std::int64_t whatIfBatches(const Scenario& scenario);

}  // namespace ballast::studio
