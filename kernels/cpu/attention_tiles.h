// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/attention_loops.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/tile_product.h"

namespace ballast::kernels {

/// One key tile against one group of query lanes.
struct TilePlace {
    std::int64_t lane = 0;  ///< first lane of the group inside the query tile
    std::int64_t key = 0;   ///< first key of the tile inside its piece
    std::int64_t rows = 0;  ///< keys to work on, a multiple of the rows of a tile product
    std::int64_t lastKeyOfLane0 =
        0;                ///< the group's first query attends to no later key; each next lane to one more
    bool masked = false;  ///< some lane must not see some row
};

[[gnu::always_inline]] inline std::int64_t roundUpTo(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// Calls visit(place) for each tile that the mask leaves something of: `count` queries, the first of which
/// attends to the keys 0 .. lastKey. Tiles of keys outside, lanes inside, so that a key tile stays in the
/// first cache.
template <int kWidth, typename Visit>
[[gnu::always_inline]] inline void forEachTile(std::int64_t lastKey, std::int64_t count, const Visit& visit) {
    constexpr std::int64_t kLanes = std::int64_t{2} * kWidth;
    for (std::int64_t key = 0; key < lastKey + count; key += kKeyTile) {
        for (std::int64_t lane = 0; lane < count; lane += kLanes) {
            const std::int64_t lastLane = (lane + kLanes < count ? lane + kLanes : count) - 1;
            const std::int64_t visible = lastKey + lastLane + 1 - key;
            if (visible <= 0) {
                continue;
            }
            TilePlace place;
            place.lane = lane;
            place.key = key;
            place.rows = roundUpTo(visible < kKeyTile ? visible : kKeyTile, kTileRows<kWidth>);
            place.lastKeyOfLane0 = lastKey + lane;
            place.masked = key + place.rows - 1 > place.lastKeyOfLane0;
            visit(place);
        }
    }
}

/// C[rows, 2 registers] = factor * C + A B, see tileProduct.
template <int kWidth, bool kRowsContiguous, bool kOverwrite>
[[gnu::always_inline]] inline void productOverRows(TileOperand a, std::int64_t rows, const float* b,
                                                   std::int64_t bStride, std::int64_t inner, float* c,
                                                   std::int64_t cStride, const float* factor) {
    constexpr int kRows = kTileRows<kWidth>;
    for (std::int64_t row = 0; row < rows; row += kRows) {
        const TileOperand part{a.data + (kRowsContiguous ? row : row * a.stride), a.stride};
        tileProduct<kWidth, kRows, 2, kRowsContiguous, kOverwrite>(part, b, bStride, inner, c + row * cStride,
                                                                   cStride, factor);
    }
}

/// Writes `fill` where row r is hidden from lane l, that is where offset + r > l.
template <int kWidth>
[[gnu::always_inline]] inline void maskScores(float* scores, std::int64_t rows, std::int64_t offset,
                                              float fill) {
    using L = Lanes<kWidth>;
    constexpr std::int64_t kLanes = std::int64_t{2} * kWidth;
    const std::int64_t firstMasked = offset < 0 ? -offset : 0;
    for (std::int64_t row = firstMasked; row < rows; ++row) {
        for (std::int64_t v = 0; v < 2; ++v) {
            const auto hidden = static_cast<std::int32_t>(offset + row - v * kWidth);
            float* at = scores + row * kLanes + v * kWidth;
            L::store(at, L::ramp() < hidden ? L::set(fill) : L::load(at));
        }
    }
}

/// to[rows, pitch] = scale * from[count, width], zeros around it.
template <int kWidth>
inline void packRows(const float* from, std::int64_t stride, std::int64_t count, std::int64_t width,
                     float scale, float* to, std::int64_t rows, std::int64_t pitch) {
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t used = row < count ? width : 0;
        for (std::int64_t i = 0; i < used; ++i) {
            to[row * pitch + i] = scale * from[row * stride + i];
        }
        for (std::int64_t i = used; i < pitch; ++i) {
            to[row * pitch + i] = 0.0F;
        }
    }
}

/// Zeros in all lanes that `count` queries work on.
template <int kWidth>
inline void clearLanes(float* to, std::int64_t count, std::int64_t pitch) {
    const std::int64_t lanes = paddedLanes(count);
    for (std::int64_t i = 0; i < pitch; ++i) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            to[i * kQueryTile + lane] = 0.0F;
        }
    }
}

/// Turns 4 rows of 4 floats into 4 columns.
template <int kWidth>
[[gnu::always_inline]] inline void turn4x4(const float* from, std::int64_t fromStride, float* to,
                                           std::int64_t toStride) {
    using L = Lanes<4>;
    const L::Float a = L::load(from);
    const L::Float b = L::load(from + fromStride);
    const L::Float c = L::load(from + 2 * fromStride);
    const L::Float d = L::load(from + 3 * fromStride);
    const L::Float ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const L::Float ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const L::Float cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const L::Float cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    L::store(to, __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5));
    L::store(to + toStride, __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7));
    L::store(to + 2 * toStride, __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5));
    L::store(to + 3 * toStride, __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7));
}

/// to[dimension, lane] = scale * from[lane, dimension], zeros in the padded lanes and in the rows up
/// to the pitch: queries go into the lanes.
template <int kWidth>
inline void packLanes(const float* from, std::int64_t stride, std::int64_t count, std::int64_t width,
                      float scale, float* to) {
    const std::int64_t fullRows = count / 4 * 4;
    const std::int64_t fullWidth = width / 4 * 4;
    for (std::int64_t lane = 0; lane < fullRows; lane += 4) {
        for (std::int64_t i = 0; i < fullWidth; i += 4) {
            turn4x4<kWidth>(from + lane * stride + i, stride, to + i * kQueryTile + lane, kQueryTile);
        }
    }
    for (std::int64_t lane = 0; lane < count; ++lane) {
        for (std::int64_t i = lane < fullRows ? fullWidth : 0; i < width; ++i) {
            to[i * kQueryTile + lane] = from[lane * stride + i];
        }
    }
    const std::int64_t pitch = attentionPitch(width);
    const std::int64_t lanes = paddedLanes(count);
    for (std::int64_t i = 0; i < pitch; ++i) {
        const std::int64_t used = i < width ? count : 0;
        for (std::int64_t lane = 0; lane < used; ++lane) {
            to[i * kQueryTile + lane] *= scale;
        }
        for (std::int64_t lane = used; lane < lanes; ++lane) {
            to[i * kQueryTile + lane] = 0.0F;
        }
    }
}

/// to[lane, dimension] = factor[lane] * from[dimension, lane]; scales `from` in place on the way.
template <int kWidth>
inline void unpackLanes(float* from, std::int64_t count, std::int64_t width, const float* factor, float* to,
                        std::int64_t stride) {
    for (std::int64_t i = 0; i < width; ++i) {
        for (std::int64_t lane = 0; lane < count; ++lane) {
            from[i * kQueryTile + lane] *= factor[lane];
        }
    }
    const std::int64_t fullRows = count / 4 * 4;
    const std::int64_t fullWidth = width / 4 * 4;
    for (std::int64_t lane = 0; lane < fullRows; lane += 4) {
        for (std::int64_t i = 0; i < fullWidth; i += 4) {
            turn4x4<kWidth>(from + i * kQueryTile + lane, kQueryTile, to + lane * stride + i, stride);
        }
    }
    for (std::int64_t lane = 0; lane < count; ++lane) {
        for (std::int64_t i = lane < fullRows ? fullWidth : 0; i < width; ++i) {
            to[lane * stride + i] = from[i * kQueryTile + lane];
        }
    }
}

}  // namespace ballast::kernels
