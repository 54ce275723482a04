// SPDX-License-Identifier: Apache-2.0
#include "kernels/adamw.h"

#include <gtest/gtest.h>

#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

class Adam : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Cpu, Adam, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(Adam, FollowsTheDecoupledUpdateOverManySteps) {
    constexpr std::int64_t kCount = 35;
    std::vector<float> weights = randomFloats(kCount, 1);
    std::vector<float> first(kCount, 0.0F);
    std::vector<float> second(kCount, 0.0F);
    std::vector<double> wideWeights = widen(weights);
    std::vector<double> wideFirst(kCount, 0.0);
    std::vector<double> wideSecond(kCount, 0.0);
    for (std::int64_t step = 1; step <= 20; ++step) {
        const std::vector<float> gradients = randomFloats(kCount, static_cast<std::uint64_t>(100 + step));
        AdamW settings;
        settings.rate = 0.01;
        settings.weightDecay = 0.1;
        settings.gradientScale = 0.5;
        settings.step = step;
        adamwStep(settings, gradients, {weights, first, second});
        for (std::size_t i = 0; i < kCount; ++i) {
            const double gradient = 0.5 * static_cast<double>(gradients[i]);
            wideFirst[i] = 0.9 * wideFirst[i] + 0.1 * gradient;
            wideSecond[i] = 0.95 * wideSecond[i] + 0.05 * gradient * gradient;
            const double firstHat = wideFirst[i] / (1.0 - std::pow(0.9, step));
            const double secondHat = wideSecond[i] / (1.0 - std::pow(0.95, step));
            wideWeights[i] -= 0.01 * 0.1 * wideWeights[i];
            wideWeights[i] -= 0.01 * firstHat / (std::sqrt(secondHat) + 1e-8);
        }
    }
    EXPECT_LT(relativeError(weights, wideWeights), 1e-6);
    EXPECT_LT(relativeError(first, wideFirst), 1e-6);
    EXPECT_LT(relativeError(second, wideSecond), 1e-6);
}

TEST_P(Adam, FirstStepMovesEachWeightByTheRateAgainstItsGradient) {
    std::vector<float> weights = {1.0F, 1.0F, 1.0F};
    std::vector<float> first(3, 0.0F);
    std::vector<float> second(3, 0.0F);
    AdamW settings;
    settings.rate = 0.1;
    adamwStep(settings, std::vector<float>{2.0F, -3e-3F, 0.0F}, {weights, first, second});
    EXPECT_NEAR(weights[0], 0.9F, 1e-6F);
    EXPECT_NEAR(weights[1], 1.1F, 1e-5F);
    EXPECT_EQ(weights[2], 1.0F);
}

TEST_P(Adam, SumOfSquaresKeepsSmallValuesBesideLargeOnes) {
    std::vector<float> values(100001, 1.0F);
    values[0] = 3e4F;
    EXPECT_EQ(sumOfSquares(values), 9e8 + 1e5);
    EXPECT_EQ(sumOfSquares({}), 0.0);
}

}  // namespace
}  // namespace ballast::kernels
