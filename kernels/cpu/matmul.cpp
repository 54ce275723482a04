// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#include <cblas.h>

#include <algorithm>
#include <limits>

#include "kernels/check.h"
#include "kernels/cpu/blas_setup.h"

namespace ballast::kernels {

void matmul(const Matmul& shape, std::span<const float> a, std::span<const float> b, std::span<float> c) {
    const auto [m, n, k, transposeA, transposeB, alpha, accumulate] = shape;
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    check(m >= 0 && n >= 0 && k >= 0 && m <= kMost && n <= kMost && k <= kMost, "matmul: sizes within int");
    check(std::ssize(a) == m * k && std::ssize(b) == k * n && std::ssize(c) == m * n,
          "matmul: sizes of the matrices");
    if (m == 0 || n == 0) {
        return;
    }
    if (k == 0) {
        if (!accumulate) {
            std::ranges::fill(c, 0.0F);
        }
        return;
    }
    setUpBlas();
    cblas_sgemm(CblasRowMajor, transposeA ? CblasTrans : CblasNoTrans, transposeB ? CblasTrans : CblasNoTrans,
                static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a.data(),
                static_cast<int>(transposeA ? m : k), b.data(), static_cast<int>(transposeB ? k : n),
                accumulate ? 1.0F : 0.0F, c.data(), static_cast<int>(n));
}

}  // namespace ballast::kernels
