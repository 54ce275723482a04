// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cost/cost_model.h"

namespace ballast {

/// Bytes a rank holds, by class (planner.md section 8; the same classes as the trainer's arena).
struct MemoryBreakdown {
    Bytes weights;
    Bytes gradients;
    Bytes optimizer;
    Bytes activations;
    Bytes gatheredKeyValues;
    Bytes logits;

    Bytes total() const { return weights + gradients + optimizer + activations + gatheredKeyValues + logits; }
};

/// Peak of a rank of stage `pp` that holds, at its worst moment, the activations of micro-batches with these
/// tokens on the rank (already divided by cp), while it works on one whose whole length (all cp ranks) is
/// `gatheredTokens`.
MemoryBreakdown stageMemory(const CostModel& cost, int pp, std::int64_t inFlightTokens,
                            std::int64_t largestTokens, std::int64_t gatheredTokens);

/// Parameters that one rank of a stage holds.
std::int64_t stageParameters(const CostModel& cost, int pp, int tp);

/// S_max auto: the largest length for which a 1F1B step with every micro-batch that long fits on every rank,
/// at most two windows. Throws Error (BadInput) with stage, bytes needed and bytes there when even a
/// one-token micro-batch does not fit.
std::int64_t largestMicroBatch(const CostModel& cost, const Scenario& scenario);

}  // namespace ballast
