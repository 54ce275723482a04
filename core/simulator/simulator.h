// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/simulator/step_work.h"
#include "core/timeline/timeline.h"

namespace ballast {

struct SimulationOptions {
    bool recordSpans = true;  ///< false: figures only, no spans
    /// Multiplies compute that overlaps a transfer; counts as 1 when a virtual-clock run is predicted
    /// (planner.md section 9). Every transfer of step_collectives.h blocks, so none overlaps.
    double overlapSlowdown = 1.0;
};

/// Peak memory of the worst rank.
struct PeakMemory {
    double gib = 0;
    int rank = 0;
    double limitGib = 0;
    int stage = 0;
    int dp = 0;
    int microBatch = -1;  ///< the one whose forward reaches the peak; index in its pipeline's order

    bool fits() const { return gib <= limitGib; }
};

/// Peak of the worst rank over a step with its actual micro-batches (planner.md section 8). Reads tokens
/// alone.
PeakMemory stepPeakMemory(const StepWork& work, const CostModel& cost);

struct SimulatedStep {
    StepTimeline timeline;
    Seconds stepTime;
    std::vector<RankBreakdown> ranks;  ///< by rank
    double bubble = 0;                 ///< 1 - mean busy compute / step time
    double bubbleSchedule = 0;         ///< what remains with all micro-batches equal to the mean
    std::int64_t tokens = 0;
    double modelFlops = 0;  ///< planner.md section 3, mfu
    PeakMemory memory;
};

/// Event-driven simulation of one step under the rules of the trainer's virtual clock (trainer.md, "Two
/// clocks"), starting at `begin`. Spans: every operation of every layer up to 128 ranks; beyond, the pipeline
/// lane's passes, receives, step collectives and the optimizer alone. Without spans a pass costs O(cp), since
/// equal layers repeat after the first; the times are the same to the nanosecond.
SimulatedStep simulateStep(const StepWork& work, const CostModel& cost, const SimulationOptions& options = {},
                           Nanoseconds begin = 0);

/// What would perfect packing, sharding, network or no bubble gain (planner.md section 9). Packing: every
/// pipeline has as many micro-batches, each with the mean work of the step, the r-th heaviest cp rank of each
/// with the mean of the r-th heaviest. Sharding: every cp rank has the mean of its micro-batch.
enum class Ideal { Packing, Sharding, Network, NoBubble };
StepWork idealised(const StepWork& work, Ideal ideal);

/// One entry of the critical path; lengths sum to the step time, each wait names what it waited for.
struct CriticalSpan {
    int rank = 0;
    Lane lane = Lane::Compute;
    SpanKind kind = SpanKind::Forward;
    std::int32_t microBatch = -1;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int64_t document = -1;
    bool idle = false;  ///< nothing recorded explains this time (measured timelines); `kind` means nothing
};
/// Backwards from the latest end: a transfer whose start waited goes on at the rank that came last.
std::vector<CriticalSpan> criticalPath(const StepTimeline& step, const Layout& layout);

}  // namespace ballast
