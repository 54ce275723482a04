// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/lanes.h"

namespace ballast::kernels {

/// One operand of a small matrix product, read a scalar at a time.
struct TileOperand {
    const float* data = nullptr;
    std::int64_t stride = 0;  ///< between rows, or between inner steps where rows are contiguous
};

/// Rows that one pass keeps in registers together with two vectors of columns: 16 sums of the 32 registers of
/// AVX-512, 8 of the 16 of the others.
template <int kWidth>
inline constexpr int kTileRows = kWidth == 16 ? 8 : 4;

/// C[kRows, kVectors*kWidth] = factor * C + A B, with A(r, k) = a[r + k*stride] (kRowsContiguous) or
/// a[r*stride + k]. factor is one value a column, or null for 1; with kOverwrite C is not read.
template <int kWidth, int kRows, int kVectors, bool kRowsContiguous, bool kOverwrite>
[[gnu::always_inline]] inline void tileProduct(TileOperand a, const float* b, std::int64_t bStride,
                                               std::int64_t inner, float* c, std::int64_t cStride,
                                               const float* factor) {
    using L = Lanes<kWidth>;
    typename L::Float sums[kRows][kVectors];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (std::int64_t v = 0; v < kVectors; ++v) {
            if constexpr (kOverwrite) {
                sums[r][v] = typename L::Float{};
            } else {
                sums[r][v] = L::load(c + r * cStride + v * kWidth);
                if (factor != nullptr) {
                    sums[r][v] *= L::load(factor + v * kWidth);
                }
            }
        }
    }
    for (std::int64_t k = 0; k < inner; ++k) {
        typename L::Float columns[kVectors];
#pragma GCC unroll 2
        for (std::int64_t v = 0; v < kVectors; ++v) {
            columns[v] = L::load(b + k * bStride + v * kWidth);
        }
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
            const float scalar = kRowsContiguous ? a.data[r + k * a.stride] : a.data[r * a.stride + k];
#pragma GCC unroll 2
            for (std::int64_t v = 0; v < kVectors; ++v) {
                sums[r][v] += scalar * columns[v];
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (std::int64_t v = 0; v < kVectors; ++v) {
            L::store(c + r * cStride + v * kWidth, sums[r][v]);
        }
    }
}

}  // namespace ballast::kernels
