// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/span_recorder.h"

#include <algorithm>
#include <tuple>

namespace ballast::backend {

namespace {

/// Enough for dozens of layers and micro-batches; a larger step grows it once.
constexpr std::size_t kReservedSpans = 1 << 14;

}  // namespace

SpanRecorder::SpanRecorder(RankClock& clock) : clock_(&clock) {
    spans_.reserve(kReservedSpans);
}

std::vector<Span> SpanRecorder::take() {
    std::vector<Span> taken(spans_);
    spans_.clear();
    std::stable_sort(taken.begin(), taken.end(), [](const Span& a, const Span& b) {
        return std::tuple(a.lane, a.begin) < std::tuple(b.lane, b.begin);
    });
    return taken;
}

Span startedSpan(const RankClock& clock, SpanKind kind, const SpanLabel& label) {
    Span span;
    span.begin = clock.now();
    span.end = span.begin;
    span.waitingUntil = span.begin;
    span.tokens = label.tokens;
    span.flops = label.flops;
    span.microBatch = label.microBatch;
    span.layer = label.layer;
    span.kind = kind;
    return span;
}

ComputeScope::ComputeScope(SpanRecorder& recorder, SpanKind kind, const SpanLabel& label)
    : recorder_(&recorder), span_(startedSpan(recorder.clock(), kind, label)) {
    recorder.clock().beginCompute();
}

ComputeScope::~ComputeScope() {
    recorder_->clock().endCompute();
    span_.end = recorder_->clock().now();
    recorder_->add(span_);
}

PassScope::PassScope(SpanRecorder& recorder, SpanKind kind, const SpanLabel& label)
    : recorder_(&recorder), span_(startedSpan(recorder.clock(), kind, label)) {
    span_.lane = Lane::Pipeline;
}

PassScope::~PassScope() {
    span_.end = recorder_->clock().now();
    recorder_->add(span_);
}

}  // namespace ballast::backend
