// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/packing/packer.h"
#include "core/packing/packing_summary.h"
#include "core/sharding/sharder.h"
#include "core/simulator/step_work.h"

namespace ballast {

/// One micro-batch with its decisions.
struct PlannedMicroBatch {
    MicroBatch batch;
    Sharding sharding;  ///< one shard a cp rank; for an empty micro-batch all empty
};

/// One optimiser step, enough to train from.
struct PlanStep {
    std::int64_t step = 0;
    StepKind kind = StepKind::Full;
    std::vector<PlannedMicroBatch> microBatches;  ///< sorted by (dp, index)
    Carried carried;
    double packMilliseconds = 0;

    std::int64_t tokens() const;
    /// Targets of the step: every token but the last of each piece.
    std::int64_t targets() const;
};

/// The step's packing without its sharding, for figures of packing.
PackedStep packedStep(const PlanStep& step);
/// What the simulator takes.
StepWork stepWork(const PlanStep& step, const CostModel& cost);

/// The part of a plan that stands before its steps: the scenario and every constant that was chosen.
struct PlanHeader {
    Scenario scenario;
    ModelSpec model;
    ClusterSpec cluster;
    PackingConstants chosen;
    int costModelVersion = CostModel::kVersion;
    std::string sourceDescription;
    std::vector<std::string> notices;
};

}  // namespace ballast
