// SPDX-License-Identifier: Apache-2.0
#include "core/packing/threshold_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/packing/packing_summary.h"
#include "core/packing/workload_packer.h"

namespace ballast {

namespace {

constexpr std::array<std::int64_t, 6> kSixteenths = {1, 2, 4, 8, 12, 14};

void extendChoices(std::span<const std::int64_t> values, std::size_t from, std::size_t queues,
                   std::vector<std::int64_t>& choice, std::vector<std::vector<std::int64_t>>& choices) {
    if (choice.size() == queues) {
        choices.push_back(choice);
        return;
    }
    for (std::size_t next = from; next < values.size(); ++next) {
        choice.push_back(values[next]);
        extendChoices(values, next + 1, queues, choice, choices);
        choice.pop_back();
    }
}

TunedThresholds tryThresholds(const Scenario& scenario, const CostModel& cost,
                              const PackingConstants& constants, std::span<const GlobalBatch> sample) {
    WorkloadPacker packer({scenario, cost, constants});
    PackingSummary summary(cost);
    for (const GlobalBatch& batch : sample)
        for (const PackedStep& step : packer.pack(batch))
            summary.add(step);
    while (std::optional<PackedStep> step = packer.drain())
        summary.add(*step);
    return {constants.thresholds, summary.imbalanceDegreeMeanOfSteps(), summary.meanDelaySteps(),
            summary.meanDelaySteps() <= scenario.packing.delayBudgetSteps};
}

bool isBetter(const TunedThresholds& tried, const TunedThresholds& best) {
    if (tried.withinBudget != best.withinBudget)
        return tried.withinBudget;
    return tried.withinBudget ? tried.meanOfSteps < best.meanOfSteps
                              : tried.meanDelaySteps < best.meanDelaySteps;
}

}  // namespace

std::int64_t tuningBatches(std::int64_t microBatchesPerStep) {
    constexpr std::int64_t kWindows = 20000;
    return std::clamp<std::int64_t>(kWindows / microBatchesPerStep, 8, 200);
}

std::vector<std::vector<std::int64_t>> thresholdChoices(std::int64_t window, int queues) {
    std::vector<std::int64_t> values;
    for (std::int64_t sixteenths : kSixteenths) {
        // By parts, so that a window near the end of the integers does not overflow.
        std::int64_t value = window / 16 * sixteenths + window % 16 * sixteenths / 16;
        if (value > (values.empty() ? 0 : values.back()))
            values.push_back(value);
    }
    if (queues < 0 || static_cast<std::size_t>(queues) > values.size())
        throw Error(
            fmt::format("packing.queues={}: expected 0 to {} with packing.thresholds=auto and "
                        "lengths.window={}; give the thresholds yourself for more",
                        queues, values.size(), window));
    std::vector<std::vector<std::int64_t>> choices;
    std::vector<std::int64_t> choice;
    extendChoices(values, 0, static_cast<std::size_t>(queues), choice, choices);
    return choices;
}

TunedThresholds tuneThresholds(const Scenario& scenario, const CostModel& cost, std::int64_t maxTokens,
                               std::span<const GlobalBatch> sample) {
    std::optional<TunedThresholds> best;
    for (std::vector<std::int64_t>& choice :
         thresholdChoices(scenario.lengths.window, scenario.packing.queues)) {
        TunedThresholds tried = tryThresholds(scenario, cost, {std::move(choice), maxTokens}, sample);
        if (!best || isBetter(tried, *best))
            best = std::move(tried);
    }
    return *best;
}

}  // namespace ballast
