// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/timeline/span.h"

namespace ballast {

/// Something to draw as one rectangle: a span that is wide enough to be seen alone, or a block of narrow
/// neighbours.
struct FoldedRun {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    Nanoseconds busy = 0;               ///< covered by spans; = end - begin for a single one
    Nanoseconds waiting = 0;            ///< the part of busy that was waiting
    std::size_t first = 0;              ///< index of the first span in the lane
    std::size_t count = 1;              ///< 1 = a single span
    SpanKind kind = SpanKind::Forward;  ///< of a block: the kind with the most time in it
};

/// One lane made ready for drawing and picking. Holds 32 bytes a span of its own, so the spans may go.
/// Not a model of the lane: indices refer to the spans it was made from.
class IntervalIndex {
  public:
    IntervalIndex() = default;
    /// Spans sorted by begin that do not overlap, as a lane's are. O(spans).
    explicit IntervalIndex(std::span<const Span> lane);

    std::size_t size() const { return intervals_.size(); }

    /// What to draw of [visibleBegin, visibleEnd) on a row of `pixels`: spans wider than 3 px singly, others
    /// folded into blocks of at most 3 px, split at gaps over 1 px; at most 2 * pixels + 2 runs. Runs are not
    /// clipped. Nothing for an empty range. O(log spans + spans visible).
    std::vector<FoldedRun> fold(Nanoseconds visibleBegin, Nanoseconds visibleEnd, int pixels) const;

    /// The span at a moment, or the nearest one within `tolerance` ns of it. O(log spans).
    std::optional<std::size_t> hit(Nanoseconds moment, Nanoseconds tolerance = 0) const;

  private:
    struct Interval {
        Nanoseconds begin;
        Nanoseconds end;
        Nanoseconds waiting;
        SpanKind kind;
    };
    /// Index of the first span that ends after a moment.
    std::size_t firstEndingAfter(Nanoseconds moment) const;

    std::vector<Interval> intervals_;
};

}  // namespace ballast
