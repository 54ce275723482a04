// SPDX-License-Identifier: Apache-2.0
#include "core/cost/linear_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"

namespace ballast {
namespace {

const std::vector<GemmPoint> kPoints = {
    {256, 128, 128, 0.05}, {1024, 128, 128, 0.08}, {256, 512, 128, 0.07}, {1024, 512, 512, 0.1}};

TEST(GemmTable, GivesAMeasuredShapeItsMeasuredRate) {
    const GemmTable table(kPoints, 1.0);
    for (const GemmPoint& point : kPoints)
        EXPECT_NEAR(table.rate({point.m, point.n, point.k}), point.tflops * 1e12, point.tflops);
    const double flops = 2.0 * 256 * 128 * 128;
    EXPECT_NEAR(table.seconds({256, 128, 128}).value(), flops / 0.05e12, 1e-12);
}

TEST(GemmTable, StaysBetweenTheSlowestAndTheFastestMeasuredRate) {
    const GemmTable table(kPoints, 1.0);
    Random random(23);
    for (int i = 0; i < 2000; ++i) {
        const GemmShape shape{static_cast<std::int64_t>(1 + random.below(10000)),
                              static_cast<std::int64_t>(1 + random.below(10000)),
                              static_cast<std::int64_t>(1 + random.below(10000))};
        const double rate = table.rate(shape);
        ASSERT_GE(rate, 0.05e12 * (1 - 1e-9));
        ASSERT_LE(rate, 0.1e12 * (1 + 1e-9));
    }
}

TEST(GemmTable, TakesTheEdgeForAShapeOutsideAndSaysSo) {
    const GemmTable table(kPoints, 1.0);
    EXPECT_NEAR(table.rate({1 << 20, 4096, 4096}), table.rate({1024, 512, 512}), 1);
    EXPECT_TRUE(table.isExtrapolated({2048, 128, 128}));
    EXPECT_TRUE(table.isExtrapolated({256, 64, 128}));
    EXPECT_FALSE(table.isExtrapolated({256, 512, 512}));
}

TEST(GemmTable, HalfwayBetweenTwoNeighboursIsTheirGeometricMean) {
    const GemmTable table({{256, 128, 128, 0.04}, {1024, 128, 128, 0.09}}, 1.0);
    EXPECT_NEAR(table.rate({512, 128, 128}), 0.06e12, 1);
}

TEST(GemmTable, NoProductTakesNoTime) {
    const GemmTable table(kPoints, 1.0);
    EXPECT_EQ(table.seconds({0, 128, 128}), Seconds(0));
    EXPECT_NEAR(GemmTable(kPoints, 0.5).rate({256, 128, 128}), 0.025e12, 1);
}

// GFLOP/s of OpenBLAS 0.3.21 on one Zen 4 core: each point predicted from the others.
TEST(GemmTable, PredictsAMeasuredProcessorFromItsOtherShapesWithinTenPercent) {
    const std::vector<GemmPoint> measured = {{64, 256, 256, 0.0912},    {256, 256, 256, 0.1017},
                                             {256, 768, 768, 0.0974},   {1024, 768, 768, 0.1010},
                                             {512, 3072, 768, 0.0980},  {1024, 3072, 768, 0.1008},
                                             {1024, 768, 3072, 0.1006}, {2048, 2048, 2048, 0.1019}};
    int predicted = 0;
    for (std::size_t left = 0; left < measured.size(); ++left) {
        std::vector<GemmPoint> others = measured;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
        const GemmPoint& point = measured[left];
        const GemmTable table(others, 1.0);
        if (table.isExtrapolated({point.m, point.n, point.k}))
            continue;
        ++predicted;
        EXPECT_NEAR(table.rate({point.m, point.n, point.k}) / (point.tflops * 1e12), 1, 0.11);
    }
}

}  // namespace
}  // namespace ballast
