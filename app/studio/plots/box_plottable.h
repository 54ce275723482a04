// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <vector>

namespace ballast::studio {

/// A rectangle in the plot's coordinates.
struct PlotBox {
    double keyFrom = 0;
    double keyTo = 0;
    double valueFrom = 0;
    double valueTo = 0;
    QColor colour;
    bool hatched = false;
    bool outlined = false;  ///< a thin edge, drawn when the box is wide enough to show it
    QString tip;
};

/// Many rectangles as one plottable: bars, stacked segments, histograms. One item per rectangle would cost a
/// millisecond each.
class BoxPlottable : public QCPAbstractPlottable {
    Q_OBJECT

  public:
    BoxPlottable(QCPAxis* keyAxis, QCPAxis* valueAxis);

    void setBoxes(std::vector<PlotBox> boxes);
    const std::vector<PlotBox>& boxes() const { return boxes_; }
    /// The topmost box at a pixel, or null.
    const PlotBox* boxAt(const QPointF& pixel) const;

    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth,
                           const QCPRange& inKeyRange = QCPRange()) const override;

  protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

  private:
    QRectF pixels(const PlotBox& box) const;

    std::vector<PlotBox> boxes_;
};

}  // namespace ballast::studio
