// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/studio/plots/legend_strip.h"

class QCustomPlot;
class QLabel;

namespace ballast::studio {

/// Frame of every plot: a title, a legend outside the drawing, the drawing, and a sentence instead of the
/// drawing while there is nothing to draw. Derived plots fill it; QCustomPlot stays inside plots/.
class PlotWidget : public QWidget {
    Q_OBJECT

  public:
    explicit PlotWidget(const QString& title, QWidget* parent = nullptr);
    ~PlotWidget() override;

    void setTitle(const QString& title);
    /// Shows `sentence` in the drawing's place; an empty one shows the drawing.
    void setEmptyText(const QString& sentence);
    bool isShowingDrawing() const;
    /// Pixels of the drawing's buffer per point, for pictures at twice the size.
    void setRenderScale(double scale);
    const std::vector<LegendEntry>& legend() const { return legend_->entries(); }

  protected:
    QCustomPlot* plot() const { return plot_; }
    LegendStrip* legendStrip() const { return legend_; }
    void setLegend(std::vector<LegendEntry> entries) { legend_->setEntries(std::move(entries)); }
    /// What the pointer is over, at a point of the drawing; an empty answer hides the tooltip.
    virtual QString tipAt(const QPointF& position) const;

    void changeEvent(QEvent* event) override;

  private:
    void applyTheme();

    QLabel* title_;
    LegendStrip* legend_;
    QCustomPlot* plot_;
    QLabel* empty_;
};

}  // namespace ballast::studio
