// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/job/layout.h"
#include "core/schedule/step_collectives.h"
#include "core/timeline/span.h"

namespace ballast {

/// The span kind that a collective is recorded under.
SpanKind spanKindOf(CollectivePurpose purpose);

/// What times mean: a simulation's, real time, or the trainer's virtual clock. Views and comparisons never
/// mix them.
enum class Clock { Simulated, Wall, Virtual };
std::string_view clockName(Clock clock);

/// Spans of one rank in one step, sorted by (lane, begin). Spans of one lane do not overlap.
struct RankSpans {
    int rank = 0;
    bool recorded = true;  ///< false: delivered nothing, drawn as "not recorded"
    std::vector<Span> spans;
};

/// One step of every rank, simulated and measured alike. Complete unless the run ended inside it.
struct StepTimeline {
    std::int64_t step = 0;
    bool complete = true;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;  ///< latest end over all ranks, after the optimizer
    std::vector<RankSpans> ranks;
};

/// Several steps of one run.
struct Timeline {
    Layout layout;
    Clock clock = Clock::Simulated;
    std::vector<StepTimeline> steps;
};

/// Seconds of one rank in one step by what it did; the parts sum to the step time.
struct RankBreakdown {
    /// By SpanKind value (index 0 unused); communication kinds: transfer alone.
    std::vector<double> kindSeconds = std::vector<double>(kSpanKindCount + 1);
    double waitingSeconds = 0;       ///< blocked in a collective before its transfer starts
    double pipelineIdleSeconds = 0;  ///< blocked in a receive before the sender's send, and idle at step end
    std::vector<double> waitingByKindSeconds = std::vector<double>(kSpanKindCount + 1);  ///< sums to waiting

    double computeSeconds() const;   ///< kinds that are not communication
    double transferSeconds() const;  ///< communication kinds
    /// Compute, transfer, waiting and pipeline idle: the step time.
    double totalSeconds() const;
    void addKind(SpanKind kind, double seconds);
    void addWaiting(SpanKind kind, double seconds);
    RankBreakdown& operator+=(const RankBreakdown& other);
    RankBreakdown& operator*=(double factor);
};

/// The spans of one lane of a rank, in order; empty when it has none.
std::span<const Span> laneSpans(const RankSpans& rank, Lane lane);

/// What a rank was at, in order and without overlap: the compute lane, and passes of the pipeline lane that
/// have nothing of it inside (a timeline that keeps no layers).
std::vector<Span> activities(const RankSpans& rank);

/// From the compute lane's spans (the pipeline lane's passes enclose them and do not count; a pass without
/// any, of a timeline that keeps no layers, counts as itself). Unexplained gaps count as pipeline idle.
/// Spans outside the step are cut at its borders.
RankBreakdown breakdownOf(const RankSpans& rank, Nanoseconds stepBegin, Nanoseconds stepEnd);

}  // namespace ballast
