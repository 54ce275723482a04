// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/line_plot.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "app/studio/models/format.h"
#include "app/studio/plots/scale_tickers.h"

namespace ballast::studio {
namespace {

constexpr std::size_t kMostDots = 80;  // more points draw as a line alone
constexpr double kTipReach = 12;       // pixels

void setScale(QCPAxis* axis, ValueScale scale, const QString& name, bool whole,
              std::unique_ptr<TimeScale>& time) {
    time.reset();
    if (scale == ValueScale::Seconds) {
        time = std::make_unique<TimeScale>(axis, name);
        return;
    }
    axis->setLabel(name);
    if (scale == ValueScale::Count)
        axis->setTicker(QSharedPointer<CountTicker>::create());
    else if (whole)
        axis->setTicker(QSharedPointer<WholeNumberTicker>::create());
    else
        axis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    axis->setSubTicks(!whole);
}

QString valueText(double value, ValueScale scale) {
    switch (scale) {
        case ValueScale::Seconds:
            return formatSeconds(value);
        case ValueScale::Count:
            return formatCount(std::llround(value));
        case ValueScale::Plain:
            break;
    }
    return QString::number(value, 'g', 6);
}

}  // namespace

LinePlot::LinePlot(const QString& title, QWidget* parent) : PlotWidget(title, parent) {}

LinePlot::~LinePlot() = default;

void LinePlot::setChart(LineChart chart) {
    chart_ = std::move(chart);
    plot()->clearGraphs();
    setScale(plot()->xAxis, chart_.xScale, chart_.xAxis, chart_.wholeX, xTime_);
    setScale(plot()->yAxis, chart_.yScale, chart_.yAxis, false, yTime_);
    std::vector<LegendEntry> legend;
    for (const Line& line : chart_.lines) {
        QCPGraph* graph = plot()->addGraph();
        graph->setData(QVector<double>(line.x.begin(), line.x.end()),
                       QVector<double>(line.y.begin(), line.y.end()), true);
        graph->setPen(QPen(line.colour, 2, line.dashed ? Qt::DashLine : Qt::SolidLine));
        if (line.stepped)
            graph->setLineStyle(QCPGraph::lsStepLeft);
        else if (line.x.size() <= kMostDots)
            graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, line.colour, line.colour, 5));
        legend.push_back({line.name, line.colour, LegendEntry::Look::Line});
    }
    setLegend(chart_.lines.size() > 1 ? std::move(legend) : std::vector<LegendEntry>{});
    fitRanges();
    drawMarker();
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void LinePlot::fitRanges() {
    double xLow = INFINITY, xHigh = -INFINITY, yLow = INFINITY, yHigh = -INFINITY;
    for (const Line& line : chart_.lines) {
        for (std::size_t i = 0; i < line.x.size(); ++i) {
            xLow = std::min(xLow, line.x[i]);
            xHigh = std::max(xHigh, line.x[i]);
            if (std::isfinite(line.y[i])) {
                yLow = std::min(yLow, line.y[i]);
                yHigh = std::max(yHigh, line.y[i]);
            }
        }
    }
    if (!(xLow <= xHigh))
        xLow = 0, xHigh = 1;
    if (!(yLow <= yHigh))
        yLow = 0, yHigh = 1;
    if (chart_.fromZero)
        yLow = std::min(0.0, yLow);
    const double xRoom = xHigh > xLow ? (xHigh - xLow) * 0.02 : 0.5;
    const double yRoom = yHigh > yLow ? (yHigh - yLow) * 0.08 : std::max(std::abs(yHigh) * 0.1, 1e-9);
    plot()->xAxis->setRange(xLow - xRoom, xHigh + xRoom);
    plot()->yAxis->setRange(chart_.fromZero && yLow == 0 ? 0 : yLow - yRoom, yHigh + yRoom);
    if (xTime_)
        xTime_->update();
    if (yTime_)
        yTime_->update();
}

void LinePlot::setMarker(double x) {
    marker_ = x;
    hasMarker_ = true;
    drawMarker();
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void LinePlot::drawMarker() {
    plot()->clearItems();
    if (!hasMarker_)
        return;
    auto* line = new QCPItemStraightLine(plot());
    line->setPen(QPen(QColor(0x60, 0x60, 0x60), 1.5, Qt::DotLine));
    line->point1->setCoords(marker_, 0);
    line->point2->setCoords(marker_, 1);
}

QString LinePlot::tipAt(const QPointF& position) const {
    double best = kTipReach * kTipReach;
    QString tip;
    for (const Line& line : chart_.lines) {
        for (std::size_t i = 0; i < line.x.size(); ++i) {
            const double dx = plot()->xAxis->coordToPixel(line.x[i]) - position.x();
            const double dy = plot()->yAxis->coordToPixel(line.y[i]) - position.y();
            if (dx * dx + dy * dy < best) {
                best = dx * dx + dy * dy;
                tip = QStringLiteral("%1\n%2: %3\n%4: %5")
                          .arg(line.name, chart_.xAxis, valueText(line.x[i], chart_.xScale), chart_.yAxis,
                               valueText(line.y[i], chart_.yScale));
            }
        }
    }
    return tip;
}

}  // namespace ballast::studio
