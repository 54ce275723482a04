// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/models/format.h"

#include <QLocale>
#include <cmath>

namespace ballast::studio {
namespace {

const QString kMinus = QStringLiteral("\u2212");

}  // namespace

QString formatSignificant(double number) {
    if (number == 0)
        return QStringLiteral("0");
    const double size = std::abs(number);
    if (!std::isfinite(number))
        return QStringLiteral("\u2013");
    if (size < 1e-4 || size >= 1e7)
        return QString::number(number, 'g', 3);
    // Rounded first, so that 9.996 takes the digits of 10.0.
    const double rounded = QString::number(size, 'e', 2).toDouble();
    const int digits = std::max(0, 2 - static_cast<int>(std::floor(std::log10(rounded) + 1e-9)));
    return QString::number(number, 'f', digits);
}

QString formatSeconds(double seconds) {
    const double size = std::abs(seconds);
    if (size == 0)
        return QStringLiteral("0 s");
    if (size >= 0.9995)
        return formatSignificant(seconds) + QStringLiteral(" s");
    if (size >= 0.9995e-3)
        return formatSignificant(seconds * 1e3) + QStringLiteral(" ms");
    if (size >= 0.9995e-6)
        return formatSignificant(seconds * 1e6) + QStringLiteral(" \u00b5s");
    return formatSignificant(seconds * 1e9) + QStringLiteral(" ns");
}

QString formatCount(std::int64_t count) {
    return QLocale(QLocale::English).toString(static_cast<qlonglong>(count));
}

QString formatShort(double number) {
    const double size = std::abs(number);
    if (size >= 0.9995e9)
        return formatSignificant(number / 1e9) + QStringLiteral(" G");
    if (size >= 0.9995e6)
        return formatSignificant(number / 1e6) + QStringLiteral(" M");
    if (size >= 0.9995e3)
        return formatSignificant(number / 1e3) + QStringLiteral(" K");
    return formatSignificant(number);
}

QString formatPercent(double share) {
    return formatSignificant(share * 100) + QStringLiteral(" %");
}

QString formatChange(double ratio) {
    if (std::abs(ratio) < 0.0005)
        return QStringLiteral("\u00b10 %");
    return (ratio > 0 ? QStringLiteral("+") : kMinus) + QString::number(std::abs(ratio) * 100, 'f', 1) +
           QStringLiteral(" %");
}

QString formatRatio(double ratio) {
    return QString::number(ratio, 'f', 3);
}

QString formatGiB(double gib) {
    if (std::abs(gib) < 1)
        return formatSignificant(gib * 1024) + QStringLiteral(" MiB");
    return formatSignificant(gib) + QStringLiteral(" GiB");
}

QString formatTokenLength(std::int64_t tokens) {
    if (tokens >= (1 << 20) && tokens % (1 << 20) == 0)
        return QStringLiteral("%1M").arg(tokens >> 20);
    if (tokens >= 1024 && tokens % 1024 == 0)
        return QStringLiteral("%1K").arg(tokens >> 10);
    return formatCount(tokens);
}

}  // namespace ballast::studio
