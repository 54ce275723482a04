// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backend/profiler/clock.h"
#include "core/timeline/span.h"

namespace ballast::backend {

/// What a span is about, beside its times.
struct SpanLabel {
    int microBatch = -1;
    int layer = -1;
    std::int64_t tokens = 0;
    double flops = 0;
    std::int64_t document = -1;  ///< blamed when others are late
};

/// The spans of one rank in the step that runs. Memory is reserved up front, so that recording is a copy of
/// 72 bytes and never blocks computation.
class SpanRecorder {
  public:
    explicit SpanRecorder(RankClock& clock);

    RankClock& clock() const { return *clock_; }
    void add(const Span& span) { spans_.push_back(span); }

    /// The step's spans, sorted by (lane, begin), and an empty recorder.
    std::vector<Span> take();

  private:
    RankClock* clock_;
    std::vector<Span> spans_;
};

/// A piece of computation: a span of the compute lane that lasts as long as the object.
class ComputeScope {
  public:
    ComputeScope(SpanRecorder& recorder, SpanKind kind, const SpanLabel& label);
    ~ComputeScope();
    ComputeScope(const ComputeScope&) = delete;
    ComputeScope& operator=(const ComputeScope&) = delete;

  private:
    SpanRecorder* recorder_;
    Span span_;
};

/// A whole pass of a micro-batch through the stage: a span of the pipeline lane around compute spans and
/// collectives.
class PassScope {
  public:
    PassScope(SpanRecorder& recorder, SpanKind kind, const SpanLabel& label);
    ~PassScope();
    PassScope(const PassScope&) = delete;
    PassScope& operator=(const PassScope&) = delete;

  private:
    SpanRecorder* recorder_;
    Span span_;
};

/// A span of `kind` that begins now; the rest is the caller's.
Span startedSpan(const RankClock& clock, SpanKind kind, const SpanLabel& label);

}  // namespace ballast::backend
