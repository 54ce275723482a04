// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/box_plottable.h"

#include <algorithm>

#include "app/studio/plots/span_palette.h"

namespace ballast::studio {
namespace {

constexpr double kOutlineFromPixels = 5;

}  // namespace

BoxPlottable::BoxPlottable(QCPAxis* keyAxis, QCPAxis* valueAxis) : QCPAbstractPlottable(keyAxis, valueAxis) {
    setAntialiased(false);
}

void BoxPlottable::setBoxes(std::vector<PlotBox> boxes) {
    boxes_ = std::move(boxes);
}

QRectF BoxPlottable::pixels(const PlotBox& box) const {
    return QRectF(coordsToPixels(box.keyFrom, box.valueFrom), coordsToPixels(box.keyTo, box.valueTo))
        .normalized();
}

const PlotBox* BoxPlottable::boxAt(const QPointF& pixel) const {
    for (auto box = boxes_.rbegin(); box != boxes_.rend(); ++box) {
        if (pixels(*box).adjusted(-0.5, -0.5, 0.5, 0.5).contains(pixel))
            return &*box;
    }
    return nullptr;
}

double BoxPlottable::selectTest(const QPointF& pos, bool, QVariant*) const {
    return boxAt(pos) ? 0 : -1;
}

QCPRange BoxPlottable::getKeyRange(bool& foundRange, QCP::SignDomain) const {
    foundRange = !boxes_.empty();
    QCPRange range;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const QCPRange own(boxes_[i].keyFrom, boxes_[i].keyTo);
        if (i == 0)
            range = own;
        else
            range.expand(own);
    }
    return range;
}

QCPRange BoxPlottable::getValueRange(bool& foundRange, QCP::SignDomain, const QCPRange&) const {
    foundRange = !boxes_.empty();
    QCPRange range;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const QCPRange own(boxes_[i].valueFrom, boxes_[i].valueTo);
        if (i == 0)
            range = own;
        else
            range.expand(own);
    }
    return range;
}

void BoxPlottable::draw(QCPPainter* painter) {
    painter->setAntialiasing(false);
    for (const PlotBox& box : boxes_) {
        QRectF place = pixels(box);
        if (place.width() < 1)
            place.setWidth(1);
        if (place.height() < 1)
            place.setHeight(1);
        if (box.hatched) {
            painter->fillRect(place, Qt::white);
            painter->fillRect(place, waitingBrush(box.colour));
        } else {
            painter->fillRect(place, box.colour);
        }
        const bool wide = std::min(place.width(), place.height()) >= kOutlineFromPixels;
        if (box.hatched || (box.outlined && wide)) {
            painter->setPen(QPen(box.hatched ? box.colour : QColor(Qt::white), 1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(place);
        }
    }
}

void BoxPlottable::drawLegendIcon(QCPPainter* painter, const QRectF& rect) const {
    painter->fillRect(rect, boxes_.empty() ? QColor(Qt::gray) : boxes_.front().colour);
}

}  // namespace ballast::studio
