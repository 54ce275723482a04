// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/bar_plot.h"

#include <qcustomplot.h>

#include <algorithm>

#include "app/studio/plots/box_plottable.h"
#include "app/studio/plots/scale_tickers.h"

namespace ballast::studio {
namespace {

constexpr double kCategoryFill = 0.8;  // the rest is the gap between categories
constexpr std::size_t kMostLabels = 24;
constexpr double kHeadroom = 1.08;
constexpr double kNoteHeadroom = 1.12;
constexpr double kNotePixels = 70;  // a note and the gap before it
constexpr int kPixelsPerTick = 60;
constexpr double kLeastDrawing = 120;

QCPAxis* categoryAxisOf(QCustomPlot* plot, bool horizontal) {
    return horizontal ? plot->yAxis : plot->xAxis;
}

QCPAxis* valueAxisOf(QCustomPlot* plot, bool horizontal) {
    return horizontal ? plot->xAxis : plot->yAxis;
}

}  // namespace

BarPlot::BarPlot(const QString& title, QWidget* parent) : PlotWidget(title, parent) {
    // The room for notes is in pixels, so the value axis follows the drawing's width.
    connect(plot(), &QCustomPlot::afterLayout, this, [this] {
        const int width = plot()->axisRect()->width();
        if (!boxes_ || width == fittedWidth_)
            return;
        fittedWidth_ = width;
        fitValues();
        plot()->replot(QCustomPlot::rpQueuedReplot);
    });
}

BarPlot::~BarPlot() = default;

void BarPlot::setChart(BarChart chart) {
    chart_ = std::move(chart);
    plot()->clearPlottables();
    plot()->clearItems();
    QCPAxis* categories = categoryAxisOf(plot(), chart_.horizontal);
    QCPAxis* values = valueAxisOf(plot(), chart_.horizontal);
    boxes_ = new BoxPlottable(categories, values);
    fillBoxes();
    nameCategories();
    timeScale_.reset();
    if (chart_.scale == ValueScale::Seconds) {
        timeScale_ = std::make_unique<TimeScale>(values, chart_.valueAxis);
    } else {
        values->setLabel(chart_.valueAxis);
        values->setTicker(chart_.scale == ValueScale::Count
                              ? QSharedPointer<QCPAxisTicker>(QSharedPointer<CountTicker>::create())
                              : QSharedPointer<QCPAxisTicker>::create());
    }
    fittedWidth_ = -1;
    fitValues();
    addMark();
    addNotes();
    std::vector<LegendEntry> legend = chart_.legend;
    if (chart_.mark)
        legend.push_back({chart_.markName, QColor(Qt::black), LegendEntry::Look::Line});
    setLegend(std::move(legend));
    plot()->replot(QCustomPlot::rpQueuedReplot);
}

void BarPlot::fillBoxes() {
    std::vector<PlotBox> boxes;
    for (std::size_t category = 0; category < chart_.bars.size(); ++category) {
        const std::vector<Bar>& side = chart_.bars[category];
        const double width = kCategoryFill / static_cast<double>(std::max<std::size_t>(1, side.size()));
        for (std::size_t i = 0; i < side.size(); ++i) {
            const double from =
                static_cast<double>(category) - kCategoryFill / 2 + width * static_cast<double>(i);
            for (const BarSegment& segment : side[i].segments)
                boxes.push_back({from, from + width * 0.94, segment.from, segment.to, segment.colour,
                                 segment.hatched, true, segment.tip});
        }
    }
    boxes_->setBoxes(std::move(boxes));
}

void BarPlot::nameCategories() {
    QCPAxis* axis = categoryAxisOf(plot(), chart_.horizontal);
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const std::size_t stride = (chart_.categories.size() + kMostLabels - 1) / kMostLabels;
    for (std::size_t i = 0; i < chart_.categories.size(); i += std::max<std::size_t>(1, stride))
        ticker->addTick(static_cast<double>(i), chart_.categories[i]);
    axis->setTicker(ticker);
    axis->setLabel(chart_.categoryAxis);
    axis->setSubTicks(false);
    axis->setTickLength(0, 3);
    axis->grid()->setVisible(false);
    axis->setRange(-0.5, static_cast<double>(chart_.categories.size()) - 0.5);
    axis->setRangeReversed(chart_.horizontal);
}

void BarPlot::fitValues() {
    double low = 0;
    double high = chart_.mark.value_or(0);
    bool notes = false;
    for (const auto& side : chart_.bars) {
        for (const Bar& bar : side) {
            notes = notes || !bar.note.isEmpty();
            for (const BarSegment& segment : bar.segments) {
                low = std::min({low, segment.from, segment.to});
                high = std::max({high, segment.from, segment.to});
            }
        }
    }
    if (low == high)
        high = low + 1;
    QCPAxis* values = valueAxisOf(plot(), chart_.horizontal);
    const double least = low * kHeadroom;
    double most = high * (notes ? kNoteHeadroom : kHeadroom);
    if (notes && chart_.horizontal) {
        // The note beside the longest bar takes kNotePixels of the width.
        const double width = std::max(kLeastDrawing, static_cast<double>(plot()->axisRect()->width()));
        most = (high * width - least * kNotePixels) / (width - kNotePixels);
    }
    const int length = chart_.horizontal ? plot()->axisRect()->width() : plot()->axisRect()->height();
    values->ticker()->setTickCount(std::clamp(length / kPixelsPerTick, 3, 6));
    values->setRange(least, most);
    if (timeScale_)
        timeScale_->update();
}

void BarPlot::addMark() {
    if (!chart_.mark)
        return;
    auto* line = new QCPItemStraightLine(plot());
    line->setPen(QPen(Qt::black, 1.5, Qt::DashLine));
    const bool across = !chart_.horizontal;
    line->point1->setCoords(across ? 0 : *chart_.mark, across ? *chart_.mark : 0);
    line->point2->setCoords(across ? 1 : *chart_.mark, across ? *chart_.mark : 1);
}

void BarPlot::addNotes() {
    std::size_t count = 0;
    for (const auto& side : chart_.bars)
        count += side.size();
    if (count > 2 * kMostLabels)
        return;
    for (std::size_t category = 0; category < chart_.bars.size(); ++category) {
        const std::vector<Bar>& side = chart_.bars[category];
        const double width = kCategoryFill / static_cast<double>(std::max<std::size_t>(1, side.size()));
        for (std::size_t i = 0; i < side.size(); ++i) {
            if (side[i].note.isEmpty())
                continue;
            double end = 0;
            for (const BarSegment& segment : side[i].segments)
                end = std::abs(segment.to) > std::abs(end) ? segment.to : end;
            const double middle =
                static_cast<double>(category) - kCategoryFill / 2 + width * (static_cast<double>(i) + 0.47);
            if (chart_.horizontal)
                end = std::max(0.0, end);  // left bars leave the room right of the zero line free
            auto* text = new QCPItemText(plot());
            text->setText(side[i].note);
            text->setFont(font());
            text->setClipToAxisRect(false);
            text->position->setCoords(chart_.horizontal ? end : middle, chart_.horizontal ? middle : end);
            text->setPadding(QMargins(4, 1, 4, 1));
            text->setBrush(QColor(255, 255, 255, 215));
            const Qt::Alignment beside = Qt::AlignLeft | Qt::AlignVCenter;
            text->setPositionAlignment(chart_.horizontal ? beside : Qt::AlignHCenter | Qt::AlignBottom);
        }
    }
}

QString BarPlot::tipAt(const QPointF& position) const {
    const PlotBox* box = boxes_ ? boxes_->boxAt(position) : nullptr;
    return box ? box->tip : QString();
}

}  // namespace ballast::studio
