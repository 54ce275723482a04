// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace ballast {

/// A rank's place along the four axes, each from 0.
struct Coordinate {
    int tp = 0;
    int cp = 0;
    int dp = 0;
    int pp = 0;

    auto operator<=>(const Coordinate&) const = default;
};

/// Degrees of tensor, context, data and pipeline parallelism, each 1 or more, always written in the order
/// (tp, cp, dp, pp). rank = tp + TP*(cp + CP*(dp + DP*pp)), as in Megatron.
struct Layout {
    int tp = 1;
    int cp = 1;
    int dp = 1;
    int pp = 1;

    auto operator<=>(const Layout&) const = default;

    int worldSize() const { return tp * cp * dp * pp; }

    int rankOf(Coordinate at) const { return at.tp + tp * (at.cp + cp * (at.dp + dp * at.pp)); }

    Coordinate coordinateOf(int rank) const {
        return {rank % tp, rank / tp % cp, rank / (tp * cp) % dp, rank / (tp * cp * dp)};
    }
};

}  // namespace ballast
