// SPDX-License-Identifier: Apache-2.0
#include "core/cost/attention_cost.h"

#include <cmath>
#include <cstdlib>

#include "core/base/check.h"

namespace ballast {

TileCount countTiles(AttentionBlock block) {
    if (block.queries <= 0)
        return {};
    const std::int64_t whole = block.queries / kTileQueries;
    const bool rest = block.queries % kTileQueries != 0;
    const auto keyTiles = [](std::int64_t keys) { return (keys + kTileKeys - 1) / kTileKeys; };
    // Block i of the whole ones ends at key prefix + 128*(i+1); 128 is two key tiles, so the sum over i is
    // closed.
    TileCount count;
    count.tiles = whole * keyTiles(block.prefix) + kTileQueries / kTileKeys * (whole * (whole + 1) / 2);
    if (rest)
        count.tiles += keyTiles(block.prefix + block.queries);
    count.blocks = whole + (rest ? 1 : 0);
    count.tokens = block.queries;
    return count;
}

Seconds tileSeconds(const TileConstants& constants, const TileCount& count, double heads, bool withLaunch) {
    const double milliseconds =
        constants.a * (static_cast<double>(count.tiles) + constants.b * static_cast<double>(count.blocks)) *
            heads +
        constants.c * static_cast<double>(count.tokens) * heads + (withLaunch ? constants.d : 0.0);
    return Seconds(milliseconds * 1e-3);
}

const AttentionCurve& nearestCurve(const std::vector<AttentionCurve>& curves, std::int64_t headDim) {
    const AttentionCurve* best = nullptr;
    double least = 0;
    for (const AttentionCurve& curve : curves) {
        const double distance =
            std::abs(std::log2(static_cast<double>(curve.headDim) / static_cast<double>(headDim)));
        if (!best || distance < least) {
            best = &curve;
            least = distance;
        }
    }
    BALLAST_CHECK(best);
    return *best;
}

TileConstants scaledToHeadDim(const TileConstants& constants, std::int64_t curveHeadDim,
                              std::int64_t headDim) {
    const double factor = static_cast<double>(headDim) / static_cast<double>(curveHeadDim);
    TileConstants scaled = constants;
    scaled.a *= factor;
    scaled.c *= factor;
    return scaled;
}

}  // namespace ballast
