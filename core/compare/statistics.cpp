// SPDX-License-Identifier: Apache-2.0
#include "core/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ballast {

double mean(std::span<const double> values) {
    if (values.empty())
        return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
    return percentile(values, 50);
}

double percentile(std::span<const double> values, double percent) {
    if (values.empty())
        return 0;
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const double place = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

double relativeSpread(std::span<const double> values) {
    const double centre = mean(values);
    if (values.size() < 2 || centre == 0)
        return 0;
    const auto [least, greatest] = std::ranges::minmax(values);
    return (greatest - least) / centre;
}

}  // namespace ballast
