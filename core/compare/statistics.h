// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace ballast {

double mean(std::span<const double> values);    ///< 0 for none
double median(std::span<const double> values);  ///< mean of the middle two for an even count; 0 for none
/// Linear between the closest ranks, `percent` from 0 to 100; 0 for none.
double percentile(std::span<const double> values, double percent);
/// (greatest - least) / mean: how far repeats of the same work lie apart. 0 for fewer than two values.
double relativeSpread(std::span<const double> values);

}  // namespace ballast
