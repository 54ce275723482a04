// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "app/studio/plots/bar_plot.h"

namespace ballast::studio {

struct Line {
    QString name;
    QColor colour;
    std::vector<double> x;
    std::vector<double> y;
    bool dashed = false;
    bool stepped = false;
};

struct LineChart {
    QString xAxis;
    QString yAxis;  ///< without unit where the scale has one
    ValueScale xScale = ValueScale::Plain;
    ValueScale yScale = ValueScale::Plain;
    bool wholeX = true;     ///< x counts something: no fractions on the axis
    bool fromZero = false;  ///< the value axis includes 0
    std::vector<Line> lines;
};

/// Curves over one axis: figures step by step, loss, distributions.
class LinePlot : public PlotWidget {
    Q_OBJECT

  public:
    explicit LinePlot(const QString& title, QWidget* parent = nullptr);
    ~LinePlot() override;

    void setChart(LineChart chart);
    const LineChart& chart() const { return chart_; }
    /// A vertical line at x, to show which step other views are at.
    void setMarker(double x);

  protected:
    QString tipAt(const QPointF& position) const override;

  private:
    void drawMarker();
    void fitRanges();

    LineChart chart_;
    std::unique_ptr<TimeScale> xTime_;
    std::unique_ptr<TimeScale> yTime_;
    double marker_ = 0;
    bool hasMarker_ = false;
};

}  // namespace ballast::studio
