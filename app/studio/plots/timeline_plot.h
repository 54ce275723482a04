// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "app/studio/plots/plot_widget.h"
#include "core/timeline/timeline.h"

namespace ballast::studio {

class TimelinePlottable;
class TimeScale;

/// A step's lanes with their ranks beside them and a time axis below. Wheel zooms at the pointer, dragging
/// pans, W S A D zoom and pan, F fits the step; another plot can follow the same range.
class TimelinePlot : public PlotWidget {
    Q_OBJECT

  public:
    explicit TimelinePlot(QWidget* parent = nullptr);
    ~TimelinePlot() override;

    /// `fullSeconds`: the range that fitting shows, so that two steps stand on the same axis.
    void setStep(std::shared_ptr<const StepTimeline> step, const Layout& layout, bool allTensorRanks,
                 double fullSeconds);
    void clearStep();
    /// Names the kinds of both steps when two plots stand together; the other plot has none then.
    void setLegendOf(const std::vector<const StepTimeline*>& steps);
    const TimelinePlottable* plottable() const { return lanes_; }

    /// Visible seconds since the step's begin.
    double rangeFrom() const;
    double rangeTo() const;
    void fit();

  public slots:
    void setTimeRange(double from, double to);

  signals:
    void timeRangeChanged(double from, double to);

  protected:
    QString tipAt(const QPointF& position) const override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void nameRanks();
    void drawSeparators();
    void zoom(double factor);
    void pan(double share);

    std::shared_ptr<const StepTimeline> step_;
    TimelinePlottable* lanes_ = nullptr;
    std::unique_ptr<TimeScale> timeScale_;
    double fullSeconds_ = 1;
};

}  // namespace ballast::studio
