// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/plots/scale_tickers.h"

#include <cmath>

#include "app/studio/models/format.h"

namespace ballast::studio {
namespace {

/// Shows seconds in another unit.
class ScaledTicker : public QCPAxisTicker {
  public:
    void setFactor(double factor) { factor_ = factor; }

  protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        const double value = tick * factor_;
        return std::abs(value) < 1e-9 ? QStringLiteral("0") : QString::number(value, 'g', 6);
    }

  private:
    double factor_ = 1;
};

}  // namespace

TimeScale::TimeScale(QCPAxis* axis, QString quantity) : axis_(axis), quantity_(std::move(quantity)) {
    axis_->setTicker(QSharedPointer<ScaledTicker>::create());
    update();
}

void TimeScale::update() {
    struct Unit {
        double factor;
        const char* name;
    };
    const double shown = std::max(std::abs(axis_->range().lower), std::abs(axis_->range().upper));
    const Unit unit = shown >= 1 ? Unit{1, "s"} : shown >= 1e-3 ? Unit{1e3, "ms"} : Unit{1e6, "\u00b5s"};
    static_cast<ScaledTicker*>(axis_->ticker().data())->setFactor(unit.factor);
    axis_->setLabel(QStringLiteral("%1 (%2)").arg(quantity_, QString::fromUtf8(unit.name)));
}

QString CountTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    const double size = std::abs(tick);
    if (size >= 1e6)
        return QString::number(tick / 1e6, 'g', 4) + QStringLiteral(" M");
    if (size >= 1e3)
        return QString::number(tick / 1e3, 'g', 4) + QStringLiteral(" K");
    return size < 1e-9 ? QStringLiteral("0") : QString::number(tick, 'g', 4);
}

QVector<double> PowerOfTwoTicker::createTickVector(double, const QCPRange& range) {
    QVector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log2(std::max(1.0, range.lower))));
    const int last = static_cast<int>(std::ceil(std::log2(std::max(1.0, range.upper))));
    const int stride = std::max(1, (last - first + 9) / 10);
    for (int power = first; power <= last; power += stride)
        ticks.append(std::exp2(power));
    return ticks;
}

QString PowerOfTwoTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return formatTokenLength(std::llround(tick));
}

QVector<double> PowerOfTwoTicker::createSubTickVector(int, const QVector<double>&) {
    return {};
}

QString LogPercentTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return QString::number(tick, 'g', 4) + QStringLiteral(" %");
}

double WholeNumberTicker::getTickStep(const QCPRange& range) {
    return std::max(1.0, std::round(QCPAxisTicker::getTickStep(range)));
}

}  // namespace ballast::studio
