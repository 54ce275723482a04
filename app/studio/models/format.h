// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>

namespace ballast::studio {

/// How numbers are written everywhere in the window: three significant digits and a unit.
QString formatSeconds(double seconds);    ///< "12.3 ms"
QString formatCount(std::int64_t count);  ///< "131,072"
QString formatShort(double number);       ///< "131 K", "1.25 M"
QString formatPercent(double share);      ///< 0.123 -> "12.3 %"
QString formatChange(double ratio);       ///< other / baseline - 1 -> "+3.2 %" with a true minus sign
QString formatRatio(double ratio);        ///< "1.043"
QString formatGiB(double gib);            ///< "61.2 GiB", under one "62.4 MiB"
QString formatSignificant(
    double number);  ///< three significant digits, never in exponent form between 1e-4 and 1e7
QString formatTokenLength(
    std::int64_t tokens);  ///< powers of two as people say them: "64K", else with separators

}  // namespace ballast::studio
