// SPDX-License-Identifier: Apache-2.0
#include "core/base/nearest.h"

#include <algorithm>
#include <vector>

namespace ballast {

std::size_t editDistance(std::string_view a, std::string_view b) {
    // Hostile keys may be long; beyond this many characters the distance no longer helps anyone.
    constexpr std::size_t kLongest = 256;
    a = a.substr(0, kLongest);
    b = b.substr(0, kLongest);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
    std::string_view best;
    std::size_t least = static_cast<std::size_t>(-1);
    for (std::string_view candidate : candidates) {
        const std::size_t distance = editDistance(text, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace ballast
