// SPDX-License-Identifier: Apache-2.0
#include "core/cost/linear_cost.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/check.h"

namespace ballast {
namespace {

std::array<double, 3> placeOf(const GemmShape& shape) {
    return {std::log2(static_cast<double>(shape.m)), std::log2(static_cast<double>(shape.n)),
            std::log2(static_cast<double>(shape.k))};
}

}  // namespace

GemmTable::GemmTable(const std::vector<GemmPoint>& points, double scale) {
    BALLAST_CHECK(!points.empty());
    for (const GemmPoint& point : points) {
        const auto place = placeOf({point.m, point.n, point.k});
        points_.push_back({{place[0], place[1], place[2]}, std::log(point.tflops * 1e12 * scale)});
        const bool first = points_.size() == 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            least_[axis] = first ? place[axis] : std::min(least_[axis], place[axis]);
            most_[axis] = first ? place[axis] : std::max(most_[axis], place[axis]);
        }
    }
}

double GemmTable::rate(const GemmShape& shape) const {
    auto place = placeOf(shape);
    for (std::size_t axis = 0; axis < 3; ++axis)
        place[axis] = std::clamp(place[axis], least_[axis], most_[axis]);
    double weights = 0;
    double weighted = 0;
    for (const Point& point : points_) {
        double squared = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double difference = place[axis] - point.place[axis];
            squared += difference * difference;
        }
        constexpr double kSame = 1e-18;
        if (squared < kSame)
            return std::exp(point.logRate);
        const double weight = 1.0 / (squared * squared);
        weights += weight;
        weighted += weight * point.logRate;
    }
    return std::exp(weighted / weights);
}

Seconds GemmTable::seconds(const GemmShape& shape) const {
    if (shape.m <= 0 || shape.n <= 0 || shape.k <= 0)
        return Seconds(0);
    const double flops =
        2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    return Seconds(flops / rate(shape));
}

bool GemmTable::isExtrapolated(const GemmShape& shape) const {
    constexpr double kRounding = 1e-9;
    const auto place = placeOf(shape);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (place[axis] < least_[axis] - kRounding || place[axis] > most_[axis] + kRounding)
            return true;
    return false;
}

}  // namespace ballast
