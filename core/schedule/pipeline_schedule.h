// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/cost/attention_cost.h"

namespace ballast {

enum class ActionKind { ReceiveActivation, Forward, SendActivation, ReceiveGradient, Backward, SendGradient };

/// "forward", "receive activation" and so on, for messages.
std::string_view actionKindName(ActionKind kind);

/// One thing a stage does; `microBatch` is the index in its pipeline's order.
struct Action {
    ActionKind kind;
    int microBatch = 0;

    bool operator==(const Action&) const = default;
};

/// What the ranks of one stage do in a step, in order.
using ActionList = std::vector<Action>;

/// 1F1B over the given micro-batches (indices of the non-empty ones, in pipeline order): one list a stage.
/// Works for none, and for fewer than stages. `kind` other than "1f1b" throws Error naming schedule.kind.
std::vector<ActionList> pipelineActions(std::string_view kind, int stages, std::span<const int> microBatches);

/// Aborts the build of a plan, with the stage and action, unless every receive has its send in order, each
/// micro-batch passes forward then backward once a stage, and no stage holds more micro-batches in flight
/// than the schedule allows (1F1B: stages - stage).
void validateActions(std::span<const ActionList> stages, std::span<const int> microBatches);

/// The worst moment of a stage: tokens in flight, and the micro-batch whose forward brought them there.
struct InFlightPeak {
    std::int64_t tokens = 0;
    int microBatch = -1;  ///< -1: nothing is ever in flight
};
InFlightPeak inFlightPeak(const ActionList& actions, std::span<const std::int64_t> tokens);

/// Largest sum, over the moments of a stage's list, of `tokens` (by micro-batch index) of the micro-batches
/// in flight.
std::int64_t peakInFlightTokens(const ActionList& actions, std::span<const std::int64_t> tokens);

}  // namespace ballast
