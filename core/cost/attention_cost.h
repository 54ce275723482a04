// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/job/cluster_spec.h"

namespace ballast {

enum class Direction { Forward, Backward };

/// One slice as the attention kernel sees it: `queries` consecutive tokens of a piece, with `prefix` tokens
/// of the piece before them.
struct AttentionBlock {
    std::int64_t queries = 0;
    std::int64_t prefix = 0;
};

/// Query-key pairs under the document-causal mask: q*p + q*(q+1)/2 (planner.md section 3).
inline std::int64_t attentionPairs(AttentionBlock block) {
    return block.queries * block.prefix + block.queries * (block.queries + 1) / 2;
}

/// The kernel's tile: 128 queries x 64 keys (the size that fits 383 measured points
/// best, core/cost/README.md, and FlashAttention-2's own for head size 128).
inline constexpr std::int64_t kTileQueries = 128;
inline constexpr std::int64_t kTileKeys = 64;

/// Tiles of 128 queries x 64 keys up to the diagonal, and blocks of 128 queries, of a set of slices.
struct TileCount {
    std::int64_t tiles = 0;
    std::int64_t blocks = 0;
    std::int64_t tokens = 0;

    TileCount& operator+=(const TileCount& other) {
        tiles += other.tiles;
        blocks += other.blocks;
        tokens += other.tokens;
        return *this;
    }
};
/// O(1): the sum over blocks has a closed form.
TileCount countTiles(AttentionBlock block);

/// Seconds of one kernel call: a*(tiles + b*blocks)*heads + c*tokens*heads + d, in the constants' head size.
/// `withLaunch` adds d.
Seconds tileSeconds(const TileConstants& constants, const TileCount& count, double heads, bool withLaunch);

/// The curve measured for this head size, else of the nearest one (in log2). At least one curve.
const AttentionCurve& nearestCurve(const std::vector<AttentionCurve>& curves, std::int64_t headDim);

/// Constants of a curve for another head size: a and c grow with it, blocks and launches do not.
TileConstants scaledToHeadDim(const TileConstants& constants, std::int64_t curveHeadDim,
                              std::int64_t headDim);

}  // namespace ballast
