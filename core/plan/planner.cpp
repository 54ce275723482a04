// SPDX-License-Identifier: Apache-2.0
#include "core/plan/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/simulator/simulator.h"
#include "core/workload/document_stream.h"

namespace ballast {
namespace {

/// Global batches taken of a distribution, which never ends (formats.md, --steps).
constexpr std::int64_t kBatchesOfDistribution = 20;

Scenario checkedScenario(Scenario scenario, std::optional<std::int64_t> steps) {
    if (steps)
        scenario.steps = steps;
    if (scenario.steps && *scenario.steps < 0)
        throw Error(fmt::format("steps: expected 0 or more, found {}", *scenario.steps));
    refuseUnbuilt(scenario, "plan");
    return scenario;
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

struct Planner::State {
    State(Scenario checked, CostPass pass)
        : scenario(std::move(checked)),
          cost(scenario, loadModelSpec(scenario.model),
               loadClusterSpec(scenario.cluster, scenario.layout.worldSize()), pass),
          source(openLengthSource(scenario.lengths.source, scenario.lengths.seed)),
          stream(*source, scenario.lengths, scenario.microBatchesPerStep()),
          sharder(makeSharder(scenario.sharding.strategy, scenario.layout.cp, cost)) {
        limit = scenario.steps;
        if (!limit && !source->documents())
            limit = kBatchesOfDistribution;
        ChosenPacking choice = choosePackingConstants(scenario, cost, *source);
        packer = makePacker({scenario, cost, choice.constants});
        header.scenario = scenario;
        header.model = cost.model();
        header.cluster = cost.cluster();
        header.chosen = choice.constants;
        header.sourceDescription = source->description();
        append(header.notices, source->notices());
        append(header.notices, choice.notices);
        append(header.notices, packer->notices());
        append(header.notices, cost.notices());
    }

    /// Fills `ready` with at least one step, or leaves it empty at the end.
    void advance() {
        while (ready.empty() && !sourceEnded && (!limit || taken < *limit)) {
            std::optional<GlobalBatch> batch = stream.next();
            if (!batch) {
                sourceEnded = true;
                break;
            }
            ++taken;
            for (PackedStep& step : packer->pack(*batch))
                ready.push_back(std::move(step));
        }
        if (ready.empty())
            if (std::optional<PackedStep> step = packer->drain())
                ready.push_back(std::move(*step));
    }

    PlanStep shard(PackedStep packed) const {
        PlanStep step;
        step.step = packed.step;
        step.kind = packed.kind;
        step.carried = packed.carried;
        step.packMilliseconds = packed.packMilliseconds;
        for (MicroBatch& batch : packed.microBatches) {
            Sharding sharding = sharder->shard(batch.pieces, batch.dp);
            BALLAST_CHECK(sharding.ranks.size() == static_cast<std::size_t>(scenario.layout.cp));
            step.microBatches.push_back({std::move(batch), std::move(sharding)});
        }
        return step;
    }

    /// The true peak with the actual micro-batches (planner.md section 8).
    void checkMemory(const PlanStep& step) const {
        std::vector<MicroBatch> batches;
        std::vector<Sharding> shardings;
        for (const PlannedMicroBatch& planned : step.microBatches) {
            MicroBatch& batch = batches.emplace_back();
            batch.dp = planned.batch.dp;
            batch.index = planned.batch.index;
            batch.tokens = planned.batch.tokens;
            shardings.push_back(planned.sharding);
        }
        PeakMemory peak = stepPeakMemory(stepTokens(step.step, batches, shardings, scenario.layout), cost);
        if (peak.fits())
            return;
        throw Error(fmt::format(
            "step {}: rank {} (stage {}) needs {:.2f} GiB{}; the cluster {} has {:.2f} GiB; lower "
            "packing.max_tokens or lengths.window, or raise tp, cp or pp",
            step.step, peak.rank, peak.stage, peak.gib,
            peak.microBatch < 0 ? std::string(" for weights and optimizer alone")
                                : fmt::format(" at micro-batch {} of dp {}", peak.microBatch, peak.dp),
            cost.cluster().name, peak.limitGib));
    }

    Scenario scenario;
    CostModel cost;
    std::unique_ptr<LengthSource> source;
    DocumentStream stream;
    std::unique_ptr<Sharder> sharder;
    std::unique_ptr<Packer> packer;
    PlanHeader header;
    std::optional<std::int64_t> limit;  ///< absent: until the source ends
    std::int64_t taken = 0;
    bool sourceEnded = false;
    std::deque<PackedStep> ready;
};

Planner::Planner(Scenario scenario, std::optional<std::int64_t> steps, CostPass pass)
    : state_(std::make_unique<State>(checkedScenario(std::move(scenario), steps), pass)) {}
Planner::~Planner() = default;
Planner::Planner(Planner&&) noexcept = default;

const PlanHeader& Planner::header() const {
    return state_->header;
}

const CostModel& Planner::cost() const {
    return state_->cost;
}

const LengthSource& Planner::source() const {
    return *state_->source;
}

const std::vector<Discard>& Planner::discards() const {
    return state_->stream.discards();
}

std::vector<std::string> Planner::notices() const {
    std::vector<std::string> all = state_->header.notices;
    for (const std::string& notice : state_->packer->notices())
        if (std::find(all.begin(), all.end(), notice) == all.end())
            all.push_back(notice);
    return all;
}

std::vector<Piece> Planner::waiting() const {
    std::vector<Piece> pieces = state_->packer->waiting();
    for (const PackedStep& step : state_->ready)
        for (const MicroBatch& batch : step.microBatches)
            pieces.insert(pieces.end(), batch.pieces.begin(), batch.pieces.end());
    return pieces;
}

std::optional<PlanStep> Planner::next() {
    state_->advance();
    if (state_->ready.empty())
        return std::nullopt;
    PlanStep step = state_->shard(std::move(state_->ready.front()));
    state_->ready.pop_front();
    state_->checkMemory(step);
    return step;
}

std::optional<std::int64_t> Planner::batchesToTake() const {
    if (state_->sourceEnded)
        return state_->taken;
    return state_->limit;
}

std::vector<PlanStep> planAll(Planner& planner) {
    std::vector<PlanStep> steps;
    while (std::optional<PlanStep> step = planner.next())
        steps.push_back(std::move(*step));
    return steps;
}

}  // namespace ballast
