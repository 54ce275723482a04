// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/packing/packer.h"

namespace ballast {

/// Global batches of N windows that the tuner looks at, or as many as exist: 200, fewer where a batch is so
/// large that 20,000 windows say as much, at least 8.
std::int64_t tuningBatches(std::int64_t microBatchesPerStep);

struct TunedThresholds {
    std::vector<std::int64_t> thresholds;
    double meanOfSteps = 1;  ///< PackingSummary::imbalanceDegreeMeanOfSteps over the sample, drain after it
    double meanDelaySteps = 0;
    bool withinBudget = true;
};

/// Every strictly ascending choice of `queues` values from {1/16, 1/8, 1/4, 1/2, 3/4, 7/8} window, smallest
/// first. Throws Error naming packing.queues when the window has fewer distinct values.
std::vector<std::vector<std::int64_t>> thresholdChoices(std::int64_t window, int queues);

/// Packs the sample with every choice: least mean of the steps' ratios with mean delay within
/// packing.delay_budget_steps, ties to the first choice; if none is within it, the least delay.
/// WLB-LLM (OSDI 2025), section 4.2 asks for such a search and publishes no values; the grid is ours.
///
/// cost  choices * pieces of the sample
TunedThresholds tuneThresholds(const Scenario& scenario, const CostModel& cost, std::int64_t maxTokens,
                               std::span<const GlobalBatch> sample);

}  // namespace ballast
