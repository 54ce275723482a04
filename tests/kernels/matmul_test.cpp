// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernels/device.h"
#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

std::vector<double> plainProduct(const Matmul& shape, std::span<const float> a, std::span<const float> b,
                                 std::span<const float> before) {
    std::vector<double> c(static_cast<std::size_t>(shape.m * shape.n));
    for (std::int64_t i = 0; i < shape.m; ++i) {
        for (std::int64_t j = 0; j < shape.n; ++j) {
            double sum = 0.0;
            for (std::int64_t x = 0; x < shape.k; ++x) {
                const float left = shape.transposeA ? a[x * shape.m + i] : a[i * shape.k + x];
                const float right = shape.transposeB ? b[j * shape.k + x] : b[x * shape.n + j];
                sum += static_cast<double>(left) * static_cast<double>(right);
            }
            c[i * shape.n + j] = static_cast<double>(shape.alpha) * sum;
            if (shape.accumulate) {
                c[i * shape.n + j] += static_cast<double>(before[i * shape.n + j]);
            }
        }
    }
    return c;
}

TEST(Matmul, EqualsThePlainLoopForEveryFormAndManyShapes) {
    const std::int64_t sizes[][3] = {{1, 1, 1},     {3, 5, 7},      {16, 16, 16},  {17, 1, 33},
                                     {1, 64, 128},  {64, 64, 64},   {100, 96, 32}, {65, 130, 9},
                                     {256, 256, 2}, {130, 352, 128}};
    for (const auto& [m, n, k] : sizes) {
        for (int form = 0; form < 8; ++form) {
            SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", form " << form);
            const Matmul shape{m, n, k, (form & 1) != 0, (form & 2) != 0, 0.5F, (form & 4) != 0};
            const std::vector<float> a = randomFloats(m * k, 1);
            const std::vector<float> b = randomFloats(k * n, 2);
            const std::vector<float> before = randomFloats(m * n, 3);
            std::vector<float> c = shape.accumulate ? before : notANumber(m * n);
            matmul(shape, a, b, c);
            EXPECT_LT(relativeError(c, plainProduct(shape, a, b, before)), 2e-6);
        }
    }
}

TEST(Matmul, OfNothingWritesZerosOrLeavesWhatItAddsTo) {
    std::vector<float> c = notANumber(6);
    matmul({.m = 2, .n = 3, .k = 0}, {}, {}, c);
    EXPECT_EQ(c, std::vector<float>(6, 0.0F));
    std::ranges::fill(c, 4.0F);
    matmul({.m = 2, .n = 3, .k = 0, .accumulate = true}, {}, {}, c);
    EXPECT_EQ(c, std::vector<float>(6, 4.0F));
    matmul({.m = 0, .n = 3, .k = 2}, {}, std::vector<float>(6), {});
}

TEST(Matmul, RunsOnOneThreadAndGivesTheSameBitsToManyCallers) {
    useOneThread();
    EXPECT_EQ(blasThreads(), 1);
    const std::vector<float> a = randomFloats(96 * 96, 1);
    std::vector<float> alone(96 * 96);
    matmul({.m = 96, .n = 96, .k = 96}, a, a, alone);
    std::vector<std::vector<float>> results(8, notANumber(96 * 96));
    std::vector<std::thread> callers;
    for (std::vector<float>& result : results) {
        callers.emplace_back([&] { matmul({.m = 96, .n = 96, .k = 96}, a, a, result); });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    for (const std::vector<float>& result : results) {
        EXPECT_EQ(result, alone);
    }
}

TEST(Scratch, IsAlignedKeepsItsLargestSizeAndCanBePoisoned) {
    Scratch scratch;
    const std::span<float> large = scratch.take(1000);
    EXPECT_EQ(large.size(), 1000U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % 64, 0U);
    const std::size_t held = scratch.bytes();
    scratch.fill(3.0F);
    EXPECT_EQ(scratch.take(10)[9], 3.0F);
    EXPECT_EQ(scratch.bytes(), held);
}

TEST(DeviceDescription, NamesTheProcessorAndTheInstructionSet) {
    EXPECT_NE(deviceDescription().find(processorName()), std::string::npos);
    EXPECT_NE(deviceDescription().find(loops().name), std::string::npos);
}

}  // namespace
}  // namespace ballast::kernels
