// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/length_plots.h"

#include <qcustomplot.h>

#include <array>
#include <cmath>

#include "app/studio/models/format.h"
#include "app/studio/plots/box_plottable.h"
#include "app/studio/plots/scale_tickers.h"
#include "app/studio/plots/span_palette.h"

namespace ballast::studio {
namespace {

constexpr double kLeastPercent = 0.001;

const std::array<QColor, 3>& shareColours() {
    static const std::array<QColor, 3> colours = {QColor(0x7f, 0x7f, 0x7f), QColor(0x00, 0x9e, 0x73),
                                                  attentionColour()};
    return colours;
}

const std::array<QString, 3>& shareNames() {
    static const std::array<QString, 3> names = {QStringLiteral("documents"), QStringLiteral("tokens"),
                                                 QStringLiteral("attention work (query-key pairs)")};
    return names;
}

std::array<double, 3> sharesOf(const LengthBucket& bucket, const LengthStatistics& all) {
    const auto part = [](double of, double total) { return total > 0 ? 100 * of / total : 0; };
    return {part(static_cast<double>(bucket.documents), static_cast<double>(all.documents - all.empty)),
            part(static_cast<double>(bucket.tokens), static_cast<double>(all.tokens)),
            part(bucket.attentionWork, all.attentionWork)};
}

void setLengthAxis(QCustomPlot* plot, const LengthStatistics& statistics) {
    plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    plot->xAxis->setTicker(QSharedPointer<PowerOfTwoTicker>::create());
    plot->xAxis->setLabel(QStringLiteral("Document length (tokens)"));
    plot->xAxis->setSubTicks(false);
    if (!statistics.buckets.empty())
        plot->xAxis->setRange(std::max(1.0, static_cast<double>(statistics.buckets.front().from) * 0.9),
                              std::max(2.0, static_cast<double>(statistics.buckets.back().to) * 1.12));
}

void markWindow(QCustomPlot* plot, std::int64_t window) {
    auto* line = new QCPItemStraightLine(plot);
    line->setPen(QPen(Qt::black, 1.5, Qt::DashLine));
    line->point1->setCoords(static_cast<double>(window), 1);
    line->point2->setCoords(static_cast<double>(window), 2);
}

std::vector<LegendEntry> shareLegend(std::int64_t window, LegendEntry::Look look) {
    std::vector<LegendEntry> legend;
    for (std::size_t i = 0; i < 3; ++i)
        legend.push_back({shareNames()[i], shareColours()[i], look});
    legend.push_back({QStringLiteral("context window, %1 tokens").arg(formatCount(window)), QColor(Qt::black),
                      LegendEntry::Look::Line});
    return legend;
}

}  // namespace

LengthHistogramPlot::LengthHistogramPlot(QWidget* parent)
    : PlotWidget(tr("What documents of each length hold"), parent) {}

void LengthHistogramPlot::setStatistics(const LengthStatistics& statistics, std::int64_t window) {
    plot()->clearPlottables();
    plot()->clearItems();
    setLengthAxis(plot(), statistics);
    plot()->yAxis->setScaleType(QCPAxis::stLogarithmic);
    plot()->yAxis->setTicker(QSharedPointer<LogPercentTicker>::create());
    plot()->yAxis->setLabel(tr("Share of the whole"));
    double least = 1;
    std::vector<PlotBox> boxes;
    for (const LengthBucket& bucket : statistics.buckets) {
        const std::array<double, 3> shares = sharesOf(bucket, statistics);
        const double from = std::log2(std::max<double>(1, static_cast<double>(bucket.from)));
        const double width = (std::log2(static_cast<double>(bucket.to)) - from) * 0.9;
        for (std::size_t i = 0; i < 3; ++i) {
            if (shares[i] <= 0)
                continue;
            least = std::min(least, shares[i]);
            const double left = from + width * (static_cast<double>(i) / 3 + 0.05);
            boxes.push_back(
                {std::exp2(left), std::exp2(left + width / 3), kLeastPercent / 100, shares[i],
                 shareColours()[i], false, false,
                 tr("%1 to %2 tokens\n%3 documents, %4 tokens\n%5 of %6")
                     .arg(formatCount(bucket.from), formatCount(bucket.to - 1), formatCount(bucket.documents),
                          formatCount(bucket.tokens), formatPercent(shares[i] / 100), shareNames()[i])});
        }
    }
    plot()->yAxis->setRange(std::max(kLeastPercent, std::pow(10, std::floor(std::log10(least)))), 150);
    boxes_ = new BoxPlottable(plot()->xAxis, plot()->yAxis);
    boxes_->setBoxes(std::move(boxes));
    markWindow(plot(), window);
    setLegend(shareLegend(window, LegendEntry::Look::Box));
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

QString LengthHistogramPlot::tipAt(const QPointF& position) const {
    const PlotBox* box = boxes_ ? boxes_->boxAt(position) : nullptr;
    return box ? box->tip : QString();
}

LengthCumulativePlot::LengthCumulativePlot(QWidget* parent)
    : PlotWidget(tr("Held by documents up to a length"), parent) {}

void LengthCumulativePlot::setStatistics(const LengthStatistics& statistics, std::int64_t window) {
    plot()->clearPlottables();
    plot()->clearItems();
    setLengthAxis(plot(), statistics);
    plot()->yAxis->setLabel(tr("Share of the whole (%)"));
    plot()->yAxis->setRange(0, 104);
    std::array<QVector<double>, 3> shares;
    QVector<double> lengths;
    std::array<double, 3> held{};
    if (!statistics.buckets.empty()) {
        lengths.append(static_cast<double>(std::max<std::int64_t>(1, statistics.buckets.front().from)));
        for (auto& share : shares)
            share.append(0);
    }
    for (const LengthBucket& bucket : statistics.buckets) {
        const std::array<double, 3> own = sharesOf(bucket, statistics);
        lengths.append(static_cast<double>(std::min(bucket.to, statistics.maximum)));
        for (std::size_t i = 0; i < 3; ++i)
            shares[i].append(held[i] += own[i]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        QCPGraph* graph = plot()->addGraph();
        graph->setPen(QPen(shareColours()[i], 2));
        graph->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssDisc, shareColours()[i], shareColours()[i], 5));
        graph->setData(lengths, shares[i], true);
    }
    markWindow(plot(), window);
    setLegend(shareLegend(window, LegendEntry::Look::Line));
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

QString LengthCumulativePlot::tipAt(const QPointF& position) const {
    for (int i = 0; i < plot()->graphCount(); ++i) {
        const QCPGraph* graph = plot()->graph(i);
        for (auto point = graph->data()->constBegin(); point != graph->data()->constEnd(); ++point) {
            const QPointF at = graph->coordsToPixels(point->key, point->value);
            if ((at - position).manhattanLength() < 10)
                return tr("documents up to %1 tokens hold %2 of all %3")
                    .arg(formatCount(std::llround(point->key)), formatPercent(point->value / 100),
                         shareNames()[static_cast<std::size_t>(i)]);
        }
    }
    return {};
}

}  // namespace ballast::studio
