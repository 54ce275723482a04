// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "backend/comm/process_groups.h"
#include "backend/profiler/memory_arena.h"
#include "backend/profiler/span_recorder.h"
#include "core/cost/cost_model.h"
#include "core/schedule/step_collectives.h"
#include "kernels/device.h"

namespace ballast::backend {

/// What every part of a rank works with; built once by the trainer, which owns all of it.
struct RankContext {
    const CostModel& cost;
    ProcessGroups& groups;
    RankClock& clock;
    SpanRecorder& spans;
    MemoryArena& arena;
    kernels::Scratch& scratch;
};

/// Runs a blocking collective and records it: when this rank came, when the last member came (and which it
/// was), and when the transfer was over. The members tell each other their clocks first; on the virtual clock
/// all then stand at the latest of them plus the modelled transfer.
///
/// Every member calls it with the same call, except that `bytes` may differ where only a model figure hangs
/// on it.
void runCollective(const RankContext& context, const CollectiveCall& call, const SpanLabel& label,
                   const std::function<void(Communicator&)>& work);

/// A call whose transfer is not one of the cost model's collectives; `transfer` is the same on all members.
struct TimedCall {
    CollectiveCall call;
    Seconds transfer;
};
void runTimedCall(const RankContext& context, const TimedCall& timed, const SpanLabel& label,
                  const std::function<void(Communicator&)>& work);

}  // namespace ballast::backend
