// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace ballast::studio {

/// A time axis in seconds whose numbers are shown in the unit that suits the visible range; the axis' label
/// names it.
class TimeScale {
  public:
    /// `quantity` stands before the unit: "Time since the step began".
    TimeScale(QCPAxis* axis, QString quantity);
    /// Chooses the unit for the axis' range; call whenever the range has changed.
    void update();

  private:
    QCPAxis* axis_;
    QString quantity_;
};

/// Short numbers ("64K", "1.5 M") on a linear axis of counts.
class CountTicker : public QCPAxisTicker {
  protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Powers of two from 1 up, named as people name lengths ("512", "4K", "128K"), for logarithmic axes.
class PowerOfTwoTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
    QVector<double> createSubTickVector(int subTickCount, const QVector<double>& ticks) override;
};

/// Powers of ten in per cent ("0.1 %", "100 %") on a logarithmic axis.
class LogPercentTicker : public QCPAxisTickerLog {
  protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Whole numbers only: steps.
class WholeNumberTicker : public QCPAxisTicker {
  protected:
    double getTickStep(const QCPRange& range) override;
};

}  // namespace ballast::studio
