// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/timeline_plottable.h"

#include <algorithm>
#include <cmath>

#include "app/studio/models/span_names.h"
#include "app/studio/plots/span_palette.h"

namespace ballast::studio {
namespace {

constexpr double kGroupGap = 0.55;  // lanes left free between the ranks of different dp or pp
constexpr double kRankGap = 0.22;
constexpr double kLetterWidth = 13;  // pixels a box needs for its letter
constexpr double kNumberWidth = 22;
constexpr double kLetterHeight = 9;
constexpr double kLargestLetter = 13;
constexpr double kEdgeFromPixels = 7;

}  // namespace

TimelinePlottable::TimelinePlottable(QCPAxis* keyAxis, QCPAxis* valueAxis)
    : QCPAbstractPlottable(keyAxis, valueAxis) {
    setAntialiased(false);
}

void TimelinePlottable::setStep(std::shared_ptr<const StepTimeline> step, std::vector<TimelineRank> ranks) {
    step_ = std::move(step);
    ranks_ = std::move(ranks);
    bands_.clear();
    laneCount_ = 0;
    double at = 0;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (i > 0)
            at += ranks_[i].group == ranks_[i - 1].group ? kRankGap : kGroupGap;
        const auto lanes = static_cast<double>(ranks_[i].rows.size());
        bands_.push_back({at, at + lanes});
        at += lanes;
        laneCount_ += static_cast<int>(ranks_[i].rows.size());
    }
}

double TimelinePlottable::xOf(Nanoseconds time) const {
    return keyAxis()->coordToPixel(toSeconds(time - step_->begin).value());
}

Nanoseconds TimelinePlottable::timeOf(double seconds) const {
    return step_->begin + toNanoseconds(Seconds(seconds));
}

void TimelinePlottable::draw(QCPPainter* painter) {
    drawn_ = 0;
    if (!step_)
        return;
    painter->setAntialiasing(false);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        for (std::size_t lane = 0; lane < ranks_[i].rows.size(); ++lane) {
            const double from = bands_[i].top + static_cast<double>(lane);
            const double top = valueAxis()->coordToPixel(from + 0.04);
            const double bottom = valueAxis()->coordToPixel(from + 0.96);
            if (bottom >= clipRect().top() && top <= clipRect().bottom())
                drawRow(painter, ranks_[i].rows[lane], top, bottom);
        }
    }
}

void TimelinePlottable::drawRow(QCPPainter* painter, const TimelineRow& row, double top, double bottom) {
    const QRect clip = clipRect();
    const double left = std::max<double>(clip.left(), xOf(step_->begin));
    const double right = std::min<double>(clip.right() + 1, xOf(step_->end));
    const QRectF whole(left, top, std::max(0.0, right - left), bottom - top);
    if (!row.recorded) {
        painter->setPen(QPen(Qt::gray));
        painter->fillRect(whole, QBrush(Qt::lightGray, Qt::DiagCrossPattern));
        painter->drawText(whole, Qt::AlignCenter, QStringLiteral("not recorded"));
        return;
    }
    painter->fillRect(whole, row.lane == Lane::Compute ? pipelineIdleColour() : QColor(0xf4, 0xf4, 0xf4));
    const QCPRange shown = keyAxis()->range();
    const std::vector<FoldedRun> runs =
        row.index.fold(timeOf(shown.lower), timeOf(shown.upper), std::max(1, clip.width()));
    QFont letters = mParentPlot->font();
    letters.setPixelSize(static_cast<int>(std::clamp(bottom - top - 2, 7.0, kLargestLetter)));
    painter->setFont(letters);
    for (const FoldedRun& run : runs) {
        const double x0 = std::max<double>(clip.left() - 2, xOf(run.begin));
        const double x1 = std::min<double>(clip.right() + 2, xOf(run.end));
        drawRun(painter, row, run, QRectF(x0, top, std::max(1.0, x1 - x0), bottom - top));
    }
    drawn_ += runs.size();
}

void TimelinePlottable::drawRun(QCPPainter* painter, const TimelineRow& row, const FoldedRun& run,
                                const QRectF& place) {
    const QColor colour = spanColour(run.kind);
    QRectF solid = place;
    QRectF blocked;
    if (run.count == 1 && run.waiting > 0) {
        const double turn = std::clamp(xOf(run.begin + run.waiting), place.left(), place.right());
        blocked = QRectF(place.topLeft(), QPointF(turn, place.bottom()));
        solid.setLeft(turn);
    } else if (run.waiting * 2 > run.busy) {
        blocked = place;
        solid = {};
    }
    if (solid.width() > 0)
        painter->fillRect(solid, colour);
    if (blocked.width() > 0) {
        painter->fillRect(blocked, Qt::white);
        painter->fillRect(blocked, waitingBrush(colour));
    }
    if (run.count > 1)
        return;
    if (place.width() >= kEdgeFromPixels) {
        painter->setPen(QPen(run.waiting > 0 ? colour : QColor(Qt::white), 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(place);
    }
    if (solid.width() < kLetterWidth || place.height() < kLetterHeight)
        return;
    const Span& span = row.spans[run.first];
    QString text = spanLetter(run.kind);
    if (row.lane == Lane::Pipeline && span.microBatch >= 0 && solid.width() >= kNumberWidth)
        text += QString::number(span.microBatch);
    painter->setPen(inkOn(colour));
    painter->drawText(solid, Qt::AlignCenter | Qt::TextDontClip, text);
}

QString TimelinePlottable::describeAt(const QPointF& pixel) const {
    if (!step_ || !clipRect().contains(pixel.toPoint()))
        return {};
    const double value = valueAxis()->pixelToCoord(pixel.y());
    const double pixelSeconds = keyAxis()->range().size() / std::max(1, clipRect().width());
    const Nanoseconds time = timeOf(keyAxis()->pixelToCoord(pixel.x()));
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (value < bands_[i].top || value >= bands_[i].bottom)
            continue;
        const TimelineRow& row = ranks_[i].rows[static_cast<std::size_t>(value - bands_[i].top)];
        if (!row.recorded)
            return QStringLiteral("rank %1 delivered nothing of this step").arg(ranks_[i].rank);
        const std::optional<std::size_t> found =
            row.index.hit(time, toNanoseconds(Seconds(2 * pixelSeconds)));
        if (!found)
            return row.lane == Lane::Compute && time >= step_->begin && time < step_->end
                       ? QStringLiteral("rank %1: pipeline idle").arg(ranks_[i].rank)
                       : QString();
        const Span& span = row.spans[*found];
        if (toSeconds(span.duration()).value() > 3 * pixelSeconds)
            return describeSpan(span, ranks_[i].rank, step_->begin);
        for (const FoldedRun& run : row.index.fold(time - 8 * toNanoseconds(Seconds(pixelSeconds)),
                                                   time + 8 * toNanoseconds(Seconds(pixelSeconds)), 16)) {
            if (*found >= run.first && *found < run.first + run.count && run.count > 1)
                return describeBlock(run, ranks_[i].rank, step_->begin);
        }
        return describeSpan(span, ranks_[i].rank, step_->begin);
    }
    return {};
}

double TimelinePlottable::selectTest(const QPointF&, bool, QVariant*) const {
    return -1;
}

QCPRange TimelinePlottable::getKeyRange(bool& foundRange, QCP::SignDomain) const {
    foundRange = step_ != nullptr;
    return step_ ? QCPRange(0, toSeconds(step_->end - step_->begin).value()) : QCPRange();
}

QCPRange TimelinePlottable::getValueRange(bool& foundRange, QCP::SignDomain, const QCPRange&) const {
    foundRange = !bands_.empty();
    return bands_.empty() ? QCPRange() : QCPRange(0, bands_.back().bottom);
}

void TimelinePlottable::drawLegendIcon(QCPPainter* painter, const QRectF& rect) const {
    painter->fillRect(rect, spanColour(SpanKind::Forward));
}

}  // namespace ballast::studio
