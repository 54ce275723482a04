// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/timeline.h"

#include <algorithm>
#include <numeric>

namespace ballast {

SpanKind spanKindOf(CollectivePurpose purpose) {
    switch (purpose) {
        case CollectivePurpose::TensorSum:
            return SpanKind::TpCollective;
        case CollectivePurpose::GatherKeyValues:
            return SpanKind::CpGather;
        case CollectivePurpose::ScatterKeyValueGradients:
            return SpanKind::CpScatter;
        case CollectivePurpose::GradientSum:
        case CollectivePurpose::TiedEmbeddingSum:
        case CollectivePurpose::NormSum:
        case CollectivePurpose::LossSum:
            return SpanKind::DpReduce;
    }
    return SpanKind::DpReduce;
}

std::string_view clockName(Clock clock) {
    switch (clock) {
        case Clock::Simulated:
            return "simulated";
        case Clock::Wall:
            return "wall";
        case Clock::Virtual:
            return "virtual";
    }
    return {};
}

double RankBreakdown::computeSeconds() const {
    double sum = 0;
    for (std::size_t value = 1; value < kindSeconds.size(); ++value)
        if (!isCommunication(static_cast<SpanKind>(value)))
            sum += kindSeconds[value];
    return sum;
}

double RankBreakdown::transferSeconds() const {
    double sum = 0;
    for (std::size_t value = 1; value < kindSeconds.size(); ++value)
        if (isCommunication(static_cast<SpanKind>(value)))
            sum += kindSeconds[value];
    return sum;
}

double RankBreakdown::totalSeconds() const {
    return std::accumulate(kindSeconds.begin(), kindSeconds.end(), waitingSeconds + pipelineIdleSeconds);
}

void RankBreakdown::addKind(SpanKind kind, double seconds) {
    kindSeconds[static_cast<std::size_t>(kind)] += seconds;
}

void RankBreakdown::addWaiting(SpanKind kind, double seconds) {
    waitingSeconds += seconds;
    waitingByKindSeconds[static_cast<std::size_t>(kind)] += seconds;
}

RankBreakdown& RankBreakdown::operator+=(const RankBreakdown& other) {
    for (std::size_t value = 0; value < std::min(kindSeconds.size(), other.kindSeconds.size()); ++value)
        kindSeconds[value] += other.kindSeconds[value];
    std::size_t kinds = std::min(waitingByKindSeconds.size(), other.waitingByKindSeconds.size());
    for (std::size_t value = 0; value < kinds; ++value)
        waitingByKindSeconds[value] += other.waitingByKindSeconds[value];
    waitingSeconds += other.waitingSeconds;
    pipelineIdleSeconds += other.pipelineIdleSeconds;
    return *this;
}

RankBreakdown& RankBreakdown::operator*=(double factor) {
    for (double& seconds : kindSeconds)
        seconds *= factor;
    for (double& seconds : waitingByKindSeconds)
        seconds *= factor;
    waitingSeconds *= factor;
    pipelineIdleSeconds *= factor;
    return *this;
}

std::span<const Span> laneSpans(const RankSpans& rank, Lane lane) {
    auto range = std::equal_range(rank.spans.begin(), rank.spans.end(), Span{.lane = lane},
                                  [](const Span& a, const Span& b) { return a.lane < b.lane; });
    return {range.first, range.second};
}

std::vector<Span> activities(const RankSpans& rank) {
    std::vector<Span> result;
    std::span<const Span> compute = laneSpans(rank, Lane::Compute);
    result.reserve(compute.size());
    auto next = compute.begin();
    for (const Span& pass : laneSpans(rank, Lane::Pipeline)) {
        for (; next != compute.end() && next->end <= pass.begin; ++next)
            result.push_back(*next);
        if (next == compute.end() || next->begin >= pass.end)
            result.push_back(pass);
    }
    result.insert(result.end(), next, compute.end());
    return result;
}

RankBreakdown breakdownOf(const RankSpans& rank, Nanoseconds stepBegin, Nanoseconds stepEnd) {
    RankBreakdown breakdown;
    Nanoseconds covered = 0;
    auto seconds = [](Nanoseconds time) { return toSeconds(time).value(); };
    auto clip = [&](Nanoseconds time) { return std::clamp(time, stepBegin, stepEnd); };
    for (const Span& span : activities(rank)) {
        Nanoseconds begin = clip(span.begin);
        Nanoseconds end = clip(span.end);
        covered += end - begin;
        if (!isCommunication(span.kind)) {
            breakdown.addKind(span.kind, seconds(end - begin));
            continue;
        }
        Nanoseconds ready = clip(span.waitingUntil);
        breakdown.addKind(span.kind, seconds(end - ready));
        if (span.kind == SpanKind::PpReceive)
            breakdown.pipelineIdleSeconds += seconds(ready - begin);
        else
            breakdown.addWaiting(span.kind, seconds(ready - begin));
    }
    breakdown.pipelineIdleSeconds += seconds(stepEnd - stepBegin - covered);
    return breakdown;
}

}  // namespace ballast
