// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/legend_strip.h"

#include <QPainter>

#include "app/studio/plots/span_palette.h"

namespace ballast::studio {
namespace {

constexpr int kSwatch = 14;
constexpr int kGap = 6;
constexpr int kBetween = 16;

}  // namespace

LegendStrip::LegendStrip(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void LegendStrip::setEntries(std::vector<LegendEntry> entries) {
    entries_ = std::move(entries);
    setVisible(!entries_.empty());
    updateGeometry();
    update();
}

std::vector<QRect> LegendStrip::places(int width) const {
    std::vector<QRect> found;
    const int height = fontMetrics().height() + 4;
    int x = 0;
    int y = 0;
    for (const LegendEntry& entry : entries_) {
        const int needed = kSwatch + kGap + fontMetrics().horizontalAdvance(entry.name);
        if (x > 0 && x + needed > width) {
            x = 0;
            y += height;
        }
        found.emplace_back(x, y, needed, height);
        x += needed + kBetween;
    }
    return found;
}

int LegendStrip::heightForWidth(int width) const {
    const std::vector<QRect> found = places(width);
    return found.empty() ? 0 : found.back().bottom() + 1;
}

QSize LegendStrip::sizeHint() const {
    return {200, heightForWidth(std::max(200, width()))};
}

QSize LegendStrip::minimumSizeHint() const {
    return {80, fontMetrics().height() + 4};
}

void LegendStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const std::vector<QRect> found = places(width());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const LegendEntry& entry = entries_[i];
        const QRect place = found[i];
        const QRect swatch(place.left(), place.center().y() - kSwatch / 2 + 1, kSwatch, kSwatch - 2);
        switch (entry.look) {
            case LegendEntry::Look::Box:
                painter.fillRect(swatch, entry.colour);
                break;
            case LegendEntry::Look::Hatched:
                painter.fillRect(swatch, Qt::white);
                painter.fillRect(swatch, waitingBrush(entry.colour));
                painter.setPen(entry.colour);
                painter.drawRect(swatch.adjusted(0, 0, -1, -1));
                break;
            case LegendEntry::Look::Line:
                painter.setPen(QPen(entry.colour, 2));
                painter.drawLine(swatch.left(), swatch.center().y(), swatch.right(), swatch.center().y());
                break;
        }
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(place.adjusted(kSwatch + kGap, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         entry.name);
    }
}

}  // namespace ballast::studio
