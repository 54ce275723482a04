// SPDX-License-Identifier: Apache-2.0
#include "core/cost/calibration.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"

namespace ballast {
namespace {

constexpr TileConstants kPlanted = {4e-4, 0.65, 2e-6, 0.03, false};

std::vector<AttentionSample> plantedSamples(const TileConstants& constants, Direction direction,
                                            double noise = 0) {
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> spread(1 - noise, 1 + noise);
    std::vector<AttentionSample> samples;
    for (const std::int64_t heads : {2, 4})
        for (const std::int64_t queries : {1, 40, 128, 500, 2048})
            for (const std::int64_t prefix : {0, 100, 3000}) {
                AttentionSample sample;
                sample.direction = direction;
                sample.headDim = 32;
                sample.heads = heads;
                sample.count = countTiles({queries, prefix});
                sample.time = tileSeconds(constants, sample.count, static_cast<double>(heads), true) *
                              spread(generator);
                samples.push_back(sample);
            }
    return samples;
}

TEST(TileFit, RecoversPlantedConstants) {
    const TileFit fit = fitTiles(plantedSamples(kPlanted, Direction::Forward));
    EXPECT_NEAR(fit.constants.a, kPlanted.a, 1e-6 * kPlanted.a);
    EXPECT_NEAR(fit.constants.b, kPlanted.b, 1e-6 * kPlanted.b);
    EXPECT_NEAR(fit.constants.c, kPlanted.c, 1e-6 * kPlanted.c);
    EXPECT_NEAR(fit.constants.d, kPlanted.d, 1e-6 * kPlanted.d);
    EXPECT_NEAR(fit.errorPercent, 0, 1e-6);
}

TEST(TileFit, ReportsTheErrorOfNoisySamplesAndStaysNearThePlantedConstants) {
    const TileFit fit = fitTiles(plantedSamples(kPlanted, Direction::Forward, 0.1));
    EXPECT_NEAR(fit.constants.a, kPlanted.a, 0.1 * kPlanted.a);
    EXPECT_GT(fit.errorPercent, 1);
    EXPECT_LT(fit.errorPercent, 10);
}

TEST(TileFit, NeverGivesANegativeConstant) {
    // Times of a kernel whose diagonal tiles cost half: blocks would get a negative constant.
    std::vector<AttentionSample> samples = plantedSamples({4e-4, 0, 0, 0, false}, Direction::Forward);
    for (AttentionSample& sample : samples)
        sample.time -= Seconds(2e-7 * static_cast<double>(sample.count.blocks * sample.heads));
    const TileFit fit = fitTiles(samples);
    EXPECT_GT(fit.constants.a, 0);
    EXPECT_GE(fit.constants.b, 0);
    EXPECT_GE(fit.constants.c, 0);
    EXPECT_GE(fit.constants.d, 0);
}

TEST(TileFit, RefusesSamplesThatDoNotTellTheTimeOfATile) {
    EXPECT_THROW(fitTiles({}), Error);
    AttentionSample still;
    still.heads = 1;
    still.count = countTiles({10, 0});
    EXPECT_THROW(fitTiles(std::vector{still}), Error);
}

TEST(NonNegativeLeastSquares, AgreesWithASearchOverAGrid) {
    std::mt19937 generator(9);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<std::vector<double>> rows;
        std::vector<double> values;
        for (int row = 0; row < 5; ++row) {
            rows.push_back({uniform(generator), uniform(generator)});
            values.push_back(uniform(generator));
        }
        const auto residual = [&](double x, double y) {
            double sum = 0;
            for (std::size_t row = 0; row < rows.size(); ++row) {
                const double difference = rows[row][0] * x + rows[row][1] * y - values[row];
                sum += difference * difference;
            }
            return sum;
        };
        const std::vector<double> best = nonNegativeLeastSquares(rows, values);
        ASSERT_GE(best[0], 0);
        ASSERT_GE(best[1], 0);
        double least = residual(0, 0);
        for (double x = 0; x < 4; x += 0.02)
            for (double y = 0; y < 4; y += 0.02)
                least = std::min(least, residual(x, y));
        EXPECT_LE(residual(best[0], best[1]), least + 1e-12);
    }
}

TEST(NonNegativeLeastSquares, LeavesOutAnUnknownThatAnotherStandsInFor) {
    const std::vector<double> best = nonNegativeLeastSquares({{1, 2}, {2, 4}, {3, 6}}, {1, 2, 3});
    EXPECT_NEAR(best[0] + 2 * best[1], 1, 1e-12);
}

TEST(CalibratedCluster, HoldsWhatTheSamplesSayAndReadsBackFromItsFile) {
    CalibrationSamples samples;
    samples.kernel = "planted";
    samples.attention = plantedSamples(kPlanted, Direction::Forward);
    const auto backward = plantedSamples({1e-3, 0.5, 4e-6, 0.05, false}, Direction::Backward);
    samples.attention.insert(samples.attention.end(), backward.begin(), backward.end());
    samples.gemm = {{{256, 256, 256}, Seconds(2.0 * 256 * 256 * 256 / 100e9)},
                    {{512, 512, 512}, Seconds(2.0 * 512 * 512 * 512 / 120e9)}};
    samples.elementwise = {{Bytes(3'000'000), Seconds(1e-4)}, {Bytes(1'000'000), Seconds(1e-4)}};
    samples.copy = {{Bytes(10'000'000), Seconds(1e-3)}};
    ClusterSpec cluster = calibratedCluster(samples);
    EXPECT_NEAR(cluster.attention.at(0).backward.a, 1e-3, 1e-9);
    EXPECT_FALSE(cluster.attention.at(0).backward.assumed);
    EXPECT_NEAR(cluster.peakTflops.at("fp32"), 0.12, 1e-12);
    EXPECT_NEAR(cluster.hbmGBps, 20, 1e-9);
    EXPECT_NEAR(cluster.link(true).bandwidthGBps, 10, 1e-9);
    EXPECT_TRUE(cluster.link(true).assumed);
    // Each of the two points is predicted by the other: 120/100 and 100/120.
    EXPECT_NEAR(cluster.gemmErrorPercent, 100 * (1 - 100.0 / 120 + 120.0 / 100 - 1) / 2, 1e-9);

    cluster.name = "planted";
    cluster.memoryGiB = 8;
    EXPECT_EQ(parseClusterSpec(clusterSpecJson(cluster), "planted.json"), cluster);
}

}  // namespace
}  // namespace ballast
