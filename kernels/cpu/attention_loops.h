// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace ballast::kernels {

/// Queries and keys of one tile; the cost model counts the same tiles (core/cost).
inline constexpr std::int64_t kQueryTile = 128;
inline constexpr std::int64_t kKeyTile = 64;
/// Lanes of queries that are worked on together: two registers of AVX-512, the most of any instruction set.
inline constexpr std::int64_t kMostLanes = 32;

/// Everything that one pass over one slice needs. Only plain values: the functions that take it are compiled
/// once for each instruction set, and must share no inline function with the rest of the program.
struct AttentionTask {
    AttentionShape shape;
    AttentionBlock block;
    const float* q = nullptr;
    const float* k = nullptr;
    const float* v = nullptr;
    float* out = nullptr;                ///< forward
    float* logSumExp = nullptr;          ///< forward
    const float* outIn = nullptr;        ///< backward
    const float* logSumExpIn = nullptr;  ///< backward
    const float* outGradient = nullptr;  ///< backward
    float* qGradient = nullptr;
    float* kGradient = nullptr;
    float* vGradient = nullptr;
    float* scratch = nullptr;  ///< aligned to 64 bytes, attentionScratch(...) floats
};

/// Distance between two rows of packed keys: headDim rounded up, so that whole registers fit, whatever their
/// width.
[[gnu::always_inline]] inline std::int64_t attentionPitch(std::int64_t headDim) {
    return (headDim + 15) / 16 * 16;
}

/// Keys that a tile product reads: the most rows that it takes at once, 8, see tile_product.h.
[[gnu::always_inline]] inline std::int64_t paddedKeys(std::int64_t keys) {
    return (keys + 7) / 8 * 8;
}

/// Lanes that are worked on for `count` queries.
[[gnu::always_inline]] inline std::int64_t paddedLanes(std::int64_t count) {
    return (count + kMostLanes - 1) / kMostLanes * kMostLanes;
}

}  // namespace ballast::kernels
