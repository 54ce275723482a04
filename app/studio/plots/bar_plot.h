// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/studio/plots/plot_widget.h"

namespace ballast::studio {

class BoxPlottable;
class TimeScale;

/// What the numbers along a value axis are.
enum class ValueScale { Seconds, Count, Plain };

struct BarSegment {
    double from = 0;
    double to = 0;
    QColor colour;
    bool hatched = false;
    QString tip;
};

struct Bar {
    std::vector<BarSegment> segments;
    QString note;  ///< written at the bar's end
};

/// Bars in categories, several bars a category side by side, each of stacked segments.
struct BarChart {
    std::vector<QString> categories;
    std::vector<std::vector<Bar>> bars;  ///< by category, then side by side
    QString categoryAxis;
    QString valueAxis;  ///< without unit where the scale has one
    ValueScale scale = ValueScale::Plain;
    bool horizontal = false;     ///< categories downwards, first on top
    std::optional<double> mark;  ///< a dashed line across all bars
    QString markName;
    std::vector<LegendEntry> legend;
};

class BarPlot : public PlotWidget {
    Q_OBJECT

  public:
    explicit BarPlot(const QString& title, QWidget* parent = nullptr);
    ~BarPlot() override;

    void setChart(BarChart chart);
    const BarChart& chart() const { return chart_; }

  protected:
    QString tipAt(const QPointF& position) const override;

  private:
    void fillBoxes();
    void nameCategories();
    void fitValues();
    void addMark();
    void addNotes();

    BarChart chart_;
    BoxPlottable* boxes_ = nullptr;
    std::unique_ptr<TimeScale> timeScale_;
    int fittedWidth_ = -1;  ///< pixels of the drawing that the value axis was fitted to
};

}  // namespace ballast::studio
