// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/models/timeline_rows.h"

#include <QStringList>
#include <algorithm>
#include <tuple>

#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"

namespace ballast::studio {
namespace {

std::vector<TimelineRow> rowsOf(const RankSpans& rank) {
    std::vector<TimelineRow> rows;
    for (auto from = rank.spans.begin(); from != rank.spans.end();) {
        const Lane lane = from->lane;
        const auto to =
            std::find_if(from, rank.spans.end(), [lane](const Span& span) { return span.lane != lane; });
        const std::span<const Span> spans(from, to);
        rows.push_back({lane, rank.recorded, spans, IntervalIndex(spans)});
        from = to;
    }
    if (rows.empty())
        rows.push_back({Lane::Compute, rank.recorded, {}, {}});
    return rows;
}

QString since(Nanoseconds time, Nanoseconds origin) {
    return formatSeconds(toSeconds(time - origin).value());
}

}  // namespace

std::vector<TimelineRank> timelineRanks(const StepTimeline& step, const Layout& layout, bool allTensorRanks) {
    std::vector<TimelineRank> ranks;
    for (const RankSpans& spans : step.ranks) {
        const Coordinate at = layout.coordinateOf(spans.rank);
        if (!allTensorRanks && at.tp != 0)
            continue;
        TimelineRank rank;
        rank.rank = spans.rank;
        rank.at = at;
        rank.group = QStringLiteral("dp %1 \u00b7 pp %2").arg(at.dp).arg(at.pp);
        rank.name = QStringLiteral("cp %1").arg(at.cp);
        if (layout.tp > 1)
            rank.name += allTensorRanks ? QStringLiteral(" \u00b7 tp %1").arg(at.tp)
                                        : QStringLiteral(" \u00b7 tp 0\u2013%1").arg(layout.tp - 1);
        rank.rows = rowsOf(spans);
        ranks.push_back(std::move(rank));
    }
    std::sort(ranks.begin(), ranks.end(), [](const TimelineRank& a, const TimelineRank& b) {
        return std::tie(a.at.dp, a.at.pp, a.at.cp, a.at.tp) < std::tie(b.at.dp, b.at.pp, b.at.cp, b.at.tp);
    });
    return ranks;
}

QString describeSpan(const Span& span, int rank, Nanoseconds origin) {
    QStringList lines;
    lines << QStringLiteral("%1 on rank %2").arg(spanTitle(span.kind)).arg(rank);
    QStringList place;
    if (span.microBatch >= 0)
        place << QStringLiteral("micro-batch %1").arg(span.microBatch);
    if (span.layer >= 0)
        place << QStringLiteral("layer %1").arg(span.layer);
    if (span.tokens > 0)
        place << QStringLiteral("%1 tokens").arg(formatCount(span.tokens));
    if (!place.isEmpty())
        lines << place.join(QStringLiteral(", "));
    lines << QStringLiteral("from %1, for %2")
                 .arg(since(span.begin, origin), formatSeconds(toSeconds(span.duration()).value()));
    if (isCommunication(span.kind))
        lines << QStringLiteral("waiting %1, %2 %3")
                     .arg(formatSeconds(toSeconds(span.waiting()).value()),
                          span.modelled ? QStringLiteral("modelled transfer") : QStringLiteral("transfer"),
                          formatSeconds(toSeconds(span.transfer()).value()));
    if (span.blamedRank >= 0)
        lines << QStringLiteral("last to arrive: rank %1").arg(span.blamedRank);
    if (span.document >= 0)
        lines << QStringLiteral("made late by document %1").arg(formatCount(span.document));
    return lines.join(QLatin1Char('\n'));
}

QString describeBlock(const FoldedRun& run, int rank, Nanoseconds origin) {
    return QStringLiteral(
               "%1 short spans on rank %2, mostly %3\nfrom %4, busy %5 of which waiting %6\nzoom in to see "
               "them singly")
        .arg(formatCount(static_cast<std::int64_t>(run.count)))
        .arg(rank)
        .arg(spanTitle(run.kind).toLower(), since(run.begin, origin),
             formatSeconds(toSeconds(run.busy).value()), formatSeconds(toSeconds(run.waiting).value()));
}

}  // namespace ballast::studio
