// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ballast::kernels {

/// One matrix product of dense row-major matrices, see matmul().
struct Matmul {
    std::int64_t m = 0;       ///< rows of C
    std::int64_t n = 0;       ///< columns of C
    std::int64_t k = 0;       ///< length of the inner sums
    bool transposeA = false;  ///< A is stored as [k, m] instead of [m, k]
    bool transposeB = false;  ///< B is stored as [n, k] instead of [k, n]
    float alpha = 1.0F;
    bool accumulate = false;  ///< adds to C instead of overwriting it
};

/// C = alpha * op(A) op(B), or C += with `accumulate`.
///
/// a, b, c     m*k, k*n and m*n floats; c overlaps neither a nor b
/// precision   fp32, sums in the order of the BLAS library
/// work        2*m*n*k FLOPs; any of m, n, k may be 0 (k = 0 without accumulate writes zeros)
/// writes      all of c; without accumulate its old contents are not read
void matmul(const Matmul& shape, std::span<const float> a, std::span<const float> b, std::span<float> c);

}  // namespace ballast::kernels
