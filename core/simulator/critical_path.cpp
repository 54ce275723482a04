// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "core/simulator/simulator.h"

namespace ballast {
namespace {

/// Walks back in time along what kept the step from ending earlier.
class PathWalk {
  public:
    PathWalk(const StepTimeline& step, const Layout& layout)
        : step_(step), activities_(static_cast<std::size_t>(layout.worldSize())) {
        for (const RankSpans& rank : step.ranks) {
            if (rank.rank < 0 || rank.rank >= layout.worldSize())
                continue;
            std::vector<Span>& spans = activities_[static_cast<std::size_t>(rank.rank)];
            spans = activities(rank);
            for (const Span& span : spans)
                steps_ += span.duration() > 0 ? 2 : 0;
            if (!spans.empty() && spans.back().end > latest_) {
                latest_ = spans.back().end;
                rank_ = rank.rank;
            }
        }
    }

    std::vector<CriticalSpan> walk() {
        now_ = step_.end;
        // Every move uses up a span, unless ranks of a broken timeline blame each other in a circle.
        while (now_ > step_.begin && steps_-- > 0 && moveBack()) {
        }
        idleUntil(step_.begin);
        std::reverse(path_.begin(), path_.end());
        return std::move(path_);
    }

  private:
    void idleUntil(Nanoseconds begin) {
        if (begin < now_)
            path_.push_back({.rank = rank_, .begin = begin, .end = now_, .idle = true});
        now_ = std::min(now_, begin);
    }

    void add(const Span& span, Nanoseconds begin) {
        begin = std::max(begin, step_.begin);
        if (begin < now_)
            path_.push_back({.rank = rank_,
                             .lane = span.lane,
                             .kind = span.kind,
                             .microBatch = span.microBatch,
                             .begin = begin,
                             .end = now_,
                             .document = span.document});
        now_ = std::min(now_, begin);
    }

    /// False when the rank did nothing before now.
    bool moveBack() {
        const std::vector<Span>& spans = activities_[static_cast<std::size_t>(rank_)];
        auto after = std::partition_point(spans.begin(), spans.end(),
                                          [&](const Span& span) { return span.begin < now_; });
        if (after == spans.begin())
            return false;
        const Span& span = *std::prev(after);
        idleUntil(span.end);
        if (!isCommunication(span.kind) || span.waiting() == 0) {
            add(span, span.begin);
            return true;
        }
        add(span, span.waitingUntil);
        bool known = span.blamedRank >= 0 && static_cast<std::size_t>(span.blamedRank) < activities_.size() &&
                     !activities_[static_cast<std::size_t>(span.blamedRank)].empty();
        if (known && span.blamedRank != rank_)
            rank_ = span.blamedRank;
        else
            idleUntil(span.begin);
        return true;
    }

    const StepTimeline& step_;
    std::vector<std::vector<Span>> activities_;  ///< by rank
    std::vector<CriticalSpan> path_;
    int rank_ = 0;
    Nanoseconds now_ = 0;
    Nanoseconds latest_ = std::numeric_limits<Nanoseconds>::min();
    std::int64_t steps_ = 1;
};

}  // namespace

std::vector<CriticalSpan> criticalPath(const StepTimeline& step, const Layout& layout) {
    return PathWalk(step, layout).walk();
}

}  // namespace ballast
