// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

#include <memory>
#include <optional>
#include <vector>

#include "app/studio/models/timeline_rows.h"

namespace ballast::studio {

/// Draws a step's lanes as one plottable: key axis = seconds since the step's begin, value axis = lanes
/// downwards, one unit a lane. Spans under 3 px are folded by the core's index, so that a redraw costs what
/// is visible, and picking is a binary search.
class TimelinePlottable : public QCPAbstractPlottable {
    Q_OBJECT

  public:
    TimelinePlottable(QCPAxis* keyAxis, QCPAxis* valueAxis);

    void setStep(std::shared_ptr<const StepTimeline> step, std::vector<TimelineRank> ranks);
    const std::vector<TimelineRank>& ranks() const { return ranks_; }
    int laneCount() const { return laneCount_; }
    /// Centre of a rank's lanes and their number, in units of the value axis.
    struct Band {
        double top = 0;
        double bottom = 0;
    };
    const std::vector<Band>& bands() const { return bands_; }

    /// What lies at a pixel, in words; empty where nothing does.
    QString describeAt(const QPointF& pixel) const;
    /// Boxes emitted by the last draw, for tests of the folding.
    std::size_t drawnBoxes() const { return drawn_; }

    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth,
                           const QCPRange& inKeyRange = QCPRange()) const override;

  protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

  private:
    void drawRow(QCPPainter* painter, const TimelineRow& row, double top, double bottom);
    void drawRun(QCPPainter* painter, const TimelineRow& row, const FoldedRun& run, const QRectF& place);
    double xOf(Nanoseconds time) const;
    Nanoseconds timeOf(double seconds) const;

    std::shared_ptr<const StepTimeline> step_;
    std::vector<TimelineRank> ranks_;
    std::vector<Band> bands_;
    int laneCount_ = 0;
    std::size_t drawn_ = 0;
};

}  // namespace ballast::studio
