// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/studio/plots/plot_widget.h"
#include "core/workload/length_statistics.h"

namespace ballast::studio {

class BoxPlottable;

/// What each bucket of lengths holds of all documents, tokens and attention work, in per cent; both axes are
/// logarithmic, because the long documents are few and hold most of the work.
class LengthHistogramPlot : public PlotWidget {
    Q_OBJECT

  public:
    explicit LengthHistogramPlot(QWidget* parent = nullptr);
    void setStatistics(const LengthStatistics& statistics, std::int64_t window);

  protected:
    QString tipAt(const QPointF& position) const override;

  private:
    BoxPlottable* boxes_ = nullptr;
};

/// Share of documents, tokens and attention work held by documents up to a length.
class LengthCumulativePlot : public PlotWidget {
    Q_OBJECT

  public:
    explicit LengthCumulativePlot(QWidget* parent = nullptr);
    void setStatistics(const LengthStatistics& statistics, std::int64_t window);

  protected:
    QString tipAt(const QPointF& position) const override;
};

}  // namespace ballast::studio
