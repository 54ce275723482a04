// SPDX-License-Identifier: Apache-2.0
#include "core/packing/packer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/cost/memory_cost.h"
#include "core/packing/differencing_packer.h"
#include "core/packing/fit_packer.h"
#include "core/packing/greedy_packer.h"
#include "core/packing/sequential_packer.h"
#include "core/packing/solver_packer.h"
#include "core/packing/threshold_tuner.h"
#include "core/packing/workload_packer.h"

namespace ballast {

namespace {

template <class Strategy>
std::unique_ptr<Packer> make(const PackerSetup& setup) {
    return std::make_unique<Strategy>(setup);
}

/// The registry: a new strategy is a line here.
struct PackerEntry {
    std::string_view name;
    std::unique_ptr<Packer> (*make)(const PackerSetup& setup);
};
constexpr std::array<PackerEntry, 7> kPackers = {{{"sequential", make<SequentialPacker>},
                                                  {"greedy", make<GreedyPacker>},
                                                  {"solver", make<SolverPacker>},
                                                  {"first-fit", make<FirstFitPacker>},
                                                  {"best-fit", make<BestFitPacker>},
                                                  {"karmarkar-karp", make<DifferencingPacker>},
                                                  {"wlb", make<WorkloadPacker>}}};
constexpr std::array<std::string_view, 1> kUnbuilt = {"refined"};
/// Strategies whose micro-batches may be longer than the window, up to S_max.
constexpr std::array<std::string_view, 2> kVariableLength = {"karmarkar-karp", "wlb"};

const PackerEntry& findPacker(std::string_view strategy) {
    auto entry = std::find_if(kPackers.begin(), kPackers.end(),
                              [&](const PackerEntry& candidate) { return candidate.name == strategy; });
    if (entry != kPackers.end())
        return *entry;
    std::string names = fmt::format("{}", fmt::join(packerNames(), ", "));
    if (std::find(kUnbuilt.begin(), kUnbuilt.end(), strategy) != kUnbuilt.end())
        throw Error(fmt::format("packing.strategy={} is not built yet; use one of {}", strategy, names));
    throw Error(fmt::format("packing.strategy={}: expected one of {}", strategy, names));
}

/// Batches that a scenario takes without --steps (formats.md).
std::int64_t batchesTaken(const Scenario& scenario, const LengthSource& source) {
    constexpr std::int64_t kBatchesOfDistribution = 20;
    if (scenario.steps)
        return *scenario.steps;
    return source.documents() ? std::numeric_limits<std::int64_t>::max() : kBatchesOfDistribution;
}

/// The first piece longer than maxTokens among those that will be trained.
std::optional<Piece> tooLongPiece(const Scenario& scenario, const LengthSource& source,
                                  std::int64_t maxTokens) {
    DocumentStream stream(source, scenario.lengths, scenario.microBatchesPerStep());
    std::int64_t batches = batchesTaken(scenario, source);
    for (std::int64_t taken = 0; taken < batches; ++taken) {
        std::optional<GlobalBatch> batch = stream.next();
        if (!batch)
            break;
        auto piece = std::find_if(batch->pieces.begin(), batch->pieces.end(),
                                  [&](const Piece& candidate) { return candidate.length() > maxTokens; });
        if (piece != batch->pieces.end())
            return *piece;
    }
    return std::nullopt;
}

std::int64_t chooseMaxTokens(const Scenario& scenario, const CostModel& cost, const LengthSource& source) {
    std::int64_t align = std::max<std::int64_t>(scenario.packing.align, 1);
    std::int64_t maxTokens = scenario.packing.maxTokens ? *scenario.packing.maxTokens
                                                        : largestMicroBatch(cost, scenario) / align * align;
    // No piece is longer than the window, so only a lower bound needs a look at the source.
    if (maxTokens >= scenario.lengths.window)
        return maxTokens;
    if (std::optional<Piece> piece = tooLongPiece(scenario, source, maxTokens))
        throw Error(fmt::format(
            "packing.max_tokens={}{} is below the longest piece: document {} brings one of {} tokens; {}",
            scenario.packing.maxTokens ? "" : "auto gives ", maxTokens, piece->document, piece->length(),
            scenario.packing.maxTokens ? "raise it, or lower lengths.window"
                                       : "more does not fit into the cluster's memory_gib; raise cp or pp, "
                                         "or lower lengths.window"));
    return maxTokens;
}

std::vector<GlobalBatch> tuningSample(const Scenario& scenario, const LengthSource& source) {
    DocumentStream stream(source, scenario.lengths, scenario.microBatchesPerStep());
    std::vector<GlobalBatch> sample;
    for (std::int64_t taken = tuningBatches(scenario.microBatchesPerStep()); taken > 0; --taken) {
        std::optional<GlobalBatch> batch = stream.next();
        if (!batch)
            break;
        sample.push_back(std::move(*batch));
    }
    return sample;
}

}  // namespace

std::string_view stepKindName(StepKind kind) {
    switch (kind) {
        case StepKind::Full:
            return "full";
        case StepKind::Partial:
            return "partial";
        case StepKind::Drain:
            return "drain";
    }
    BALLAST_CHECK(false);
    return {};
}

std::unique_ptr<Packer> makePacker(const PackerSetup& setup) {
    return findPacker(setup.scenario.packing.strategy).make(setup);
}

std::vector<std::string_view> packerNames() {
    std::vector<std::string_view> names;
    for (const PackerEntry& entry : kPackers)
        names.push_back(entry.name);
    return names;
}

ChosenPacking choosePackingConstants(const Scenario& scenario, const CostModel& cost,
                                     const LengthSource& source) {
    const PackingOptions& options = scenario.packing;
    const std::string_view strategy = findPacker(options.strategy).name;
    if (std::ranges::find(kVariableLength, strategy) == kVariableLength.end())
        return {{{}, std::min(options.maxTokens.value_or(scenario.lengths.window), scenario.lengths.window)},
                {}};
    ChosenPacking chosen;
    chosen.constants.maxTokens = chooseMaxTokens(scenario, cost, source);
    if (strategy != "wlb")
        return chosen;
    if (options.thresholds) {
        checkThresholds(*options.thresholds);
        chosen.constants.thresholds = *options.thresholds;
        return chosen;
    }
    if (options.queues == 0)
        return chosen;
    TunedThresholds tuned =
        tuneThresholds(scenario, cost, chosen.constants.maxTokens, tuningSample(scenario, source));
    chosen.constants.thresholds = tuned.thresholds;
    if (!tuned.withinBudget)
        chosen.notices.push_back(
            fmt::format("no thresholds of {} queues keep the mean delay within delay_budget_steps={}; took "
                        "those of least delay, {:.2f} steps",
                        options.queues, options.delayBudgetSteps, tuned.meanDelaySteps));
    return chosen;
}

}  // namespace ballast
