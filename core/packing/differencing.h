// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ballast {

/// Splits numbers into `parts` parts of nearly equal sums by the largest differencing method for many parts:
/// each number starts as a partition of its own, and the two partitions of widest spread are merged again and
/// again, the heavy parts of one onto the light parts of the other.
///
/// works    0 or more each, in any order
/// returns  for each number its part, 0 to parts - 1
/// cost     O(n * parts * log(n))
/// source   Karmarkar and Karp, The differencing method of set partitioning, 1982
std::vector<std::int32_t> partitionByDifferencing(std::span<const double> works, std::size_t parts);

}  // namespace ballast
