// SPDX-License-Identifier: Apache-2.0
#include "core/job/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/error.h"
#include "core/job/scenario_names.h"

namespace ballast {
namespace {

[[noreturn]] void refuse(std::string_view source, std::string_view sentence) {
    throw Error(fmt::format("{}: {}", source, sentence));
}

void checkProduct(std::string_view source, std::string_view what, std::span<const std::int64_t> factors,
                  std::int64_t most) {
    std::int64_t product = 1;
    for (std::int64_t factor : factors) {
        if (factor < 1 || product > most / factor)
            refuse(source, fmt::format("{} of at most {}, found {}", what, most, fmt::join(factors, " x ")));
        product *= factor;
    }
}

void checkPacking(const PackingOptions& packing, std::string_view source) {
    if (!packing.thresholds) {
        if (packing.queues > kAutoThresholds)
            refuse(source, fmt::format("packing.queues: thresholds auto serves at most {} queues, found {}",
                                       kAutoThresholds, packing.queues));
        return;
    }
    const std::vector<std::int64_t>& thresholds = *packing.thresholds;
    for (std::size_t i = 1; i < thresholds.size(); ++i)
        if (thresholds[i] <= thresholds[i - 1])
            refuse(source,
                   fmt::format("packing.thresholds: expected strictly ascending values, found {} after {}",
                               thresholds[i], thresholds[i - 1]));
    if (!thresholds.empty() && static_cast<std::int64_t>(thresholds.size()) != packing.queues)
        refuse(source,
               fmt::format("packing.thresholds: expected one a queue, found {} thresholds for {} queues",
                           thresholds.size(), packing.queues));
}

/// One value of a key that is not built, and what to take instead.
void refuseValue(std::string_view command, std::string_view key, std::string_view value,
                 std::string_view instead) {
    throw Error(fmt::format("{}: {}={} is not built yet; use {}", command, key, value, instead));
}

void requireOneOf(std::string_view command, std::string_view key, std::string_view value,
                  std::span<const std::string_view> built) {
    if (std::find(built.begin(), built.end(), value) == built.end())
        refuseValue(command, key, value, fmt::format("{}", fmt::join(built, ", ")));
}

}  // namespace

void checkScenario(const Scenario& scenario, std::string_view source) {
    const Layout& layout = scenario.layout;
    const std::array<std::int64_t, 4> degrees = {layout.tp, layout.cp, layout.dp, layout.pp};
    checkProduct(source, "layout: expected a product of the degrees", degrees, kLargestWorld);
    const std::array<std::int64_t, 2> microBatches = {layout.dp, scenario.microBatches};
    checkProduct(source, "micro_batches: expected a product of layout.dp and micro_batches", microBatches,
                 kLargestWorld);
    checkPacking(scenario.packing, source);
    const auto& stages = scenario.schedule.stages;
    const std::int64_t chunks = std::int64_t{layout.pp} * scenario.schedule.virtualStages;
    if (stages && static_cast<std::int64_t>(stages->size()) != chunks)
        refuse(source, fmt::format("schedule.stages: expected {} numbers, one a stage, found {}", chunks,
                                   stages->size()));
    if (scenario.cost.model == "quadratic" && !scenario.cost.crossoverTokens)
        refuse(source, "cost.crossover_tokens: expected a number of tokens, since cost.model is quadratic");
    if (scenario.training.minLearningRate > scenario.training.learningRate)
        refuse(source, fmt::format("training.min_learning_rate: expected at most learning_rate, {}, found {}",
                                   scenario.training.learningRate, scenario.training.minLearningRate));
}

void refuseUnbuilt(const Scenario& scenario, std::string_view command) {
    checkScenario(scenario, command);
    constexpr std::array<std::string_view, 7> kPackersBuilt = {
        "sequential", "greedy", "solver", "first-fit", "best-fit", "karmarkar-karp", "wlb"};
    requireOneOf(command, "packing.strategy", scenario.packing.strategy, kPackersBuilt);
    requireOneOf(command, "schedule.kind", scenario.schedule.kind, std::span(kScheduleKinds).subspan(1, 1));
    if (scenario.schedule.virtualStages != 1)
        refuseValue(command, "schedule.virtual_stages", fmt::to_string(scenario.schedule.virtualStages), "1");
    requireOneOf(command, "recompute", scenario.recompute, std::span(kRecomputations).first(1));
    if (scenario.zero != 0)
        refuseValue(command, "zero", fmt::to_string(scenario.zero), "0");
    if (command == "run" && scenario.precision == "bf16")
        refuseValue(command, "precision", "bf16", "fp32 or auto (the cpu device computes in fp32)");
    if (scenario.lengths.cut == CutPolicy::None && scenario.packing.strategy == "sequential")
        throw Error(
            fmt::format("{}: packing.strategy=sequential needs cut: window, found cut: none", command));
}

}  // namespace ballast
