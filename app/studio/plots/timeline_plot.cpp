// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/timeline_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <set>

#include "app/studio/models/span_names.h"
#include "app/studio/plots/scale_tickers.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/plots/timeline_plottable.h"

namespace ballast::studio {
namespace {

constexpr double kLeastRange = 1e-7;  // seconds; under it a double's steps would show
constexpr std::size_t kMostRankNames = 40;

}  // namespace

TimelinePlot::TimelinePlot(QWidget* parent) : PlotWidget(QString(), parent) {
    setFocusPolicy(Qt::StrongFocus);
    plot()->setFocusProxy(this);
    plot()->yAxis->setRangeReversed(true);
    plot()->yAxis->setSubTicks(false);
    plot()->yAxis->setTickLength(0, 4);
    plot()->yAxis->grid()->setVisible(false);
    plot()->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot()->axisRect()->setRangeDrag(Qt::Horizontal);
    plot()->axisRect()->setRangeZoom(Qt::Horizontal);
    timeScale_ = std::make_unique<TimeScale>(plot()->xAxis, tr("Time since the step began"));
    connect(plot()->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this](const QCPRange& range) {
                const QCPRange within = range.bounded(-0.02 * fullSeconds_, 1.02 * fullSeconds_);
                if (within != range && fullSeconds_ > 0) {
                    plot()->xAxis->setRange(within);
                    return;
                }
                timeScale_->update();
                emit timeRangeChanged(range.lower, range.upper);
            });
}

TimelinePlot::~TimelinePlot() = default;

void TimelinePlot::setStep(std::shared_ptr<const StepTimeline> step, const Layout& layout,
                           bool allTensorRanks, double fullSeconds) {
    const bool first = !step_;
    step_ = std::move(step);
    if (!lanes_)
        lanes_ = new TimelinePlottable(plot()->xAxis, plot()->yAxis);
    lanes_->setStep(step_, timelineRanks(*step_, layout, allTensorRanks));
    const bool rescaled = fullSeconds != fullSeconds_;
    fullSeconds_ = fullSeconds;
    nameRanks();
    drawSeparators();
    if (first || rescaled)
        fit();
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void TimelinePlot::clearStep() {
    step_.reset();
    if (lanes_)
        lanes_->setStep(nullptr, {});
    plot()->clearItems();
    setLegend({});
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void TimelinePlot::nameRanks() {
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const std::vector<TimelineRank>& ranks = lanes_->ranks();
    const std::size_t stride = std::max<std::size_t>(1, (ranks.size() + kMostRankNames - 1) / kMostRankNames);
    for (std::size_t i = 0; i < ranks.size(); i += stride) {
        const TimelinePlottable::Band band = lanes_->bands()[i];
        ticker->addTick((band.top + band.bottom) / 2,
                        QStringLiteral("%1 \u00b7 %2").arg(ranks[i].group, ranks[i].name));
    }
    plot()->yAxis->setTicker(ticker);
    plot()->yAxis->setLabel(tr("Rank"));
    if (!lanes_->bands().empty())
        plot()->yAxis->setRange(-0.3, lanes_->bands().back().bottom + 0.3);
}

void TimelinePlot::drawSeparators() {
    plot()->clearItems();
    const std::vector<TimelineRank>& ranks = lanes_->ranks();
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        if (ranks[i].group == ranks[i - 1].group)
            continue;
        const double between = (lanes_->bands()[i - 1].bottom + lanes_->bands()[i].top) / 2;
        auto* line = new QCPItemStraightLine(plot());
        const bool replica = ranks[i].at.dp != ranks[i - 1].at.dp;
        line->setPen(QPen(replica ? QColor(0x30, 0x30, 0x30) : QColor(0xc0, 0xc0, 0xc0), replica ? 2 : 1));
        line->point1->setCoords(0, between);
        line->point2->setCoords(1, between);
    }
}

void TimelinePlot::setLegendOf(const std::vector<const StepTimeline*>& steps) {
    std::set<SpanKind> kinds;
    bool waits = false;
    for (const StepTimeline* step : steps) {
        for (const RankSpans& rank : step->ranks) {
            for (const Span& span : rank.spans) {
                kinds.insert(span.kind);
                waits = waits || span.waitingUntil > span.begin;
            }
        }
    }
    if (steps.empty()) {
        setLegend({});
        return;
    }
    std::vector<LegendEntry> legend;
    for (const SpanKind kind : kinds)
        legend.push_back({QStringLiteral("%1 %2").arg(spanLetter(kind), spanTitle(kind)), spanColour(kind)});
    if (waits)
        legend.push_back({tr("waiting for others (in the kind's colour)"), QColor(0x40, 0x40, 0x40),
                          LegendEntry::Look::Hatched});
    legend.push_back({tr("idle"), pipelineIdleColour()});
    setLegend(std::move(legend));
}

double TimelinePlot::rangeFrom() const {
    return plot()->xAxis->range().lower;
}

double TimelinePlot::rangeTo() const {
    return plot()->xAxis->range().upper;
}

void TimelinePlot::setTimeRange(double from, double to) {
    const QCPRange now = plot()->xAxis->range();
    if (now.lower == from && now.upper == to)
        return;
    plot()->xAxis->setRange(from, std::max(to, from + kLeastRange));
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void TimelinePlot::fit() {
    setTimeRange(-0.005 * fullSeconds_, 1.005 * fullSeconds_);
}

void TimelinePlot::zoom(double factor) {
    const double middle = (rangeFrom() + rangeTo()) / 2;
    const double half = std::max(kLeastRange, (rangeTo() - rangeFrom()) * factor) / 2;
    setTimeRange(middle - half, middle + half);
}

void TimelinePlot::pan(double share) {
    const double by = (rangeTo() - rangeFrom()) * share;
    setTimeRange(rangeFrom() + by, rangeTo() + by);
}

QString TimelinePlot::tipAt(const QPointF& position) const {
    return lanes_ ? lanes_->describeAt(position) : QString();
}

void TimelinePlot::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_W:
        case Qt::Key_Plus:
            return zoom(0.7);
        case Qt::Key_S:
        case Qt::Key_Minus:
            return zoom(1 / 0.7);
        case Qt::Key_A:
        case Qt::Key_Left:
            return pan(-0.15);
        case Qt::Key_D:
        case Qt::Key_Right:
            return pan(0.15);
        case Qt::Key_F:
        case Qt::Key_Home:
            return fit();
        default:
            PlotWidget::keyPressEvent(event);
    }
}

}  // namespace ballast::studio
