// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <vector>

namespace ballast::studio {

/// A swatch and its name.
struct LegendEntry {
    QString name;
    QColor colour;
    enum class Look { Box, Hatched, Line } look = Look::Box;
};

/// Names of a plot's colours in a row that wraps; stands outside the plot, so that it never covers data.
class LegendStrip : public QWidget {
    Q_OBJECT

  public:
    explicit LegendStrip(QWidget* parent = nullptr);

    void setEntries(std::vector<LegendEntry> entries);
    const std::vector<LegendEntry>& entries() const { return entries_; }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    std::vector<QRect> places(int width) const;

    std::vector<LegendEntry> entries_;
};

}  // namespace ballast::studio
