// SPDX-License-Identifier: Apache-2.0
#include "core/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace ballast {
namespace {

TEST(Random, GivesThePublishedSequenceOfSplitMix64) {
    // First five outputs for seed 1234567, from the reference program of Vigna (prng.di.unimi.it,
    // splitmix64.c).
    constexpr std::array<std::uint64_t, 5> kPublished = {6457827717110365317ULL, 3203168211198807973ULL,
                                                         9817491932198370423ULL, 4593380528125082431ULL,
                                                         16408922859458223821ULL};
    Random random(1234567);
    for (std::uint64_t expected : kPublished)
        EXPECT_EQ(random.next(), expected);
}

TEST(Random, UniformStaysInItsIntervalWithTheMeanOfOneHalf) {
    Random random(7);
    double sum = 0;
    constexpr int kDraws = 100000;
    for (int i = 0; i < kDraws; ++i) {
        const double draw = random.uniform();
        ASSERT_GE(draw, 0.0);
        ASSERT_LT(draw, 1.0);
        sum += draw;
    }
    // Five standard deviations of the mean.
    EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(Random, BelowReachesEveryValueAboutEquallyOften) {
    Random random(3);
    std::array<int, 7> counts{};
    constexpr int kDraws = 70000;
    for (int i = 0; i < kDraws; ++i)
        ++counts[random.below(counts.size())];
    for (int count : counts)
        EXPECT_NEAR(count, 10000, 5 * std::sqrt(10000.0));
}

TEST(Random, StreamsOfDifferentPurposesDiffer) {
    EXPECT_NE(Random::stream(1, 1).next(), Random::stream(1, 2).next());
    EXPECT_NE(Random::stream(1, 1).next(), Random::stream(2, 1).next());
    EXPECT_EQ(Random::stream(9, 4).next(), Random::stream(9, 4).next());
}

}  // namespace
}  // namespace ballast
