// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ballast {

/// Fewest single-character insertions, deletions and replacements that turn one text into the other.
/// Case counts. O(a*b).
std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate of least edit distance, the first of several; empty when there is none.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace ballast
