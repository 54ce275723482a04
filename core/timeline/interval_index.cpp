// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/interval_index.h"

#include <algorithm>
#include <array>

namespace ballast {
namespace {

constexpr double kSinglePixels = 3;  ///< a rectangle this narrow shows no detail of its own
constexpr double kGapPixels = 1;

}  // namespace

IntervalIndex::IntervalIndex(std::span<const Span> lane) {
    intervals_.reserve(lane.size());
    for (const Span& span : lane)
        intervals_.push_back({span.begin, span.end, span.waiting(), span.kind});
}

std::size_t IntervalIndex::firstEndingAfter(Nanoseconds moment) const {
    auto found =
        std::upper_bound(intervals_.begin(), intervals_.end(), moment,
                         [](Nanoseconds time, const Interval& interval) { return time < interval.end; });
    return static_cast<std::size_t>(found - intervals_.begin());
}

std::vector<FoldedRun> IntervalIndex::fold(Nanoseconds visibleBegin, Nanoseconds visibleEnd,
                                           int pixels) const {
    std::vector<FoldedRun> runs;
    if (visibleEnd <= visibleBegin || pixels <= 0)
        return runs;
    double pixel = static_cast<double>(visibleEnd - visibleBegin) / pixels;
    std::array<Nanoseconds, kSpanKindCount + 1> inBlock{};
    bool open = false;
    auto close = [&] {
        if (!open)
            return;
        auto most = std::max_element(inBlock.begin() + 1, inBlock.end());
        if (*most > 0)
            runs.back().kind = static_cast<SpanKind>(most - inBlock.begin());
        inBlock.fill(0);
        open = false;
    };
    for (std::size_t i = firstEndingAfter(visibleBegin); i < intervals_.size(); ++i) {
        const Interval& span = intervals_[i];
        if (span.begin >= visibleEnd)
            break;
        Nanoseconds duration = span.end - span.begin;
        bool narrow = static_cast<double>(duration) <= kSinglePixels * pixel;
        if (open && (!narrow || static_cast<double>(span.end - runs.back().begin) > kSinglePixels * pixel ||
                     static_cast<double>(span.begin - runs.back().end) > kGapPixels * pixel))
            close();
        if (!open) {
            runs.push_back({span.begin, span.end, duration, span.waiting, i, 1, span.kind});
            open = narrow;
        } else {
            FoldedRun& block = runs.back();
            block.end = span.end;
            block.busy += duration;
            block.waiting += span.waiting;
            ++block.count;
        }
        if (open)
            inBlock[static_cast<std::size_t>(span.kind)] += duration;
    }
    close();
    return runs;
}

std::optional<std::size_t> IntervalIndex::hit(Nanoseconds moment, Nanoseconds tolerance) const {
    std::size_t next = firstEndingAfter(moment);
    if (next < intervals_.size() && intervals_[next].begin <= moment)
        return next;
    std::optional<std::size_t> nearest;
    Nanoseconds distance = tolerance;
    if (next > 0 && moment - intervals_[next - 1].end <= distance) {
        nearest = next - 1;
        distance = moment - intervals_[next - 1].end;
    }
    if (next < intervals_.size() && intervals_[next].begin - moment < distance + (nearest ? 0 : 1))
        nearest = next;
    return nearest;
}

}  // namespace ballast
