// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>
#include <span>
#include <vector>

#include "core/timeline/interval_index.h"
#include "core/timeline/timeline.h"

namespace ballast::studio {

/// One lane of one rank. `spans` points into the step it was made from.
struct TimelineRow {
    Lane lane = Lane::Compute;
    bool recorded = true;
    std::span<const Span> spans;
    IntervalIndex index;
};

/// A rank's rows with the names that stand beside them.
struct TimelineRank {
    int rank = 0;
    Coordinate at;
    QString name;                   ///< "cp 0", with the tp coordinate when all tp ranks are shown
    QString group;                  ///< "dp 0 · pp 1", shared by neighbours
    std::vector<TimelineRow> rows;  ///< one a lane, pipeline first; one empty row when nothing was recorded
};

/// Ranks in the order (dp, pp, cp, tp), so that a pipeline reads downwards. Without `allTensorRanks` the tp
/// ranks of a group, which do the same work, are shown by their first. The step must outlive the rows.
std::vector<TimelineRank> timelineRanks(const StepTimeline& step, const Layout& layout, bool allTensorRanks);

/// What a tooltip says of a span: kind, micro-batch, layer, times, waiting and transfer, who was late.
/// `origin`: the step's begin.
QString describeSpan(const Span& span, int rank, Nanoseconds origin);
/// The same of a block of narrow spans.
QString describeBlock(const FoldedRun& run, int rank, Nanoseconds origin);

}  // namespace ballast::studio
