// SPDX-License-Identifier: Apache-2.0
#include "kernels/rotary.h"

#include <gtest/gtest.h>

#include <complex>

#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

constexpr double kTheta = 10000.0;

class Rotary : public EveryInstructionSet {
  protected:
    static void rotate(RotaryDirection direction, const std::vector<std::int64_t>& positions,
                       std::int64_t heads, std::int64_t headDim, std::vector<float>& x) {
        std::vector<float> cosine = notANumber(std::ssize(positions) * headDim / 2);
        std::vector<float> sine = cosine;
        rotaryAngles(positions, headDim, kTheta, cosine, sine);
        rotary(direction, heads, headDim, cosine, sine, x);
    }
};
INSTANTIATE_TEST_SUITE_P(Cpu, Rotary, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(Rotary, TurnsThePairsOfHuggingFaceByPositionTimesFrequency) {
    const std::vector<std::int64_t> positions = {0, 1, 7, 131071};
    for (const std::int64_t headDim : {2, 6, 32, 128}) {
        std::vector<float> x = randomFloats(4 * 3 * headDim, 5);
        const std::vector<float> before = x;
        rotate(RotaryDirection::Forward, positions, 3, headDim, x);
        std::vector<double> expected(x.size());
        for (std::int64_t t = 0; t < 4; ++t) {
            for (std::int64_t head = 0; head < 3; ++head) {
                const std::int64_t row = (t * 3 + head) * headDim;
                for (std::int64_t i = 0; i < headDim / 2; ++i) {
                    const double frequency =
                        std::pow(kTheta, -2.0 * static_cast<double>(i) / static_cast<double>(headDim));
                    const std::complex<double> pair(static_cast<double>(before[row + i]),
                                                    static_cast<double>(before[row + i + headDim / 2]));
                    const std::complex<double> turned =
                        pair * std::polar(1.0, static_cast<double>(positions[t]) * frequency);
                    expected[row + i] = turned.real();
                    expected[row + i + headDim / 2] = turned.imag();
                }
            }
        }
        EXPECT_LT(relativeError(x, expected), 2e-7);
    }
}

TEST_P(Rotary, InverseTurnsGradientsBack) {
    const std::vector<std::int64_t> positions = {3, 100, 4095};
    std::vector<float> x = randomFloats(3 * 2 * 20, 6);
    const std::vector<float> before = x;
    rotate(RotaryDirection::Forward, positions, 2, 20, x);
    rotate(RotaryDirection::Inverse, positions, 2, 20, x);
    EXPECT_LT(relativeError(x, widen(before)), 2e-7);
}

TEST_P(Rotary, ScoresDependOnTheDistanceOfTwoTokensOnly) {
    const std::vector<float> query = randomFloats(64, 7);
    const std::vector<float> key = randomFloats(64, 8);
    const auto score = [&](std::int64_t at, std::int64_t distance) {
        std::vector<float> q = query;
        std::vector<float> k = key;
        rotate(RotaryDirection::Forward, {at + distance}, 1, 64, q);
        rotate(RotaryDirection::Forward, {at}, 1, 64, k);
        return dot(widen(q), k);
    };
    EXPECT_NEAR(score(0, 5), score(1000, 5), 1e-5);
    EXPECT_GT(std::abs(score(0, 5) - score(0, 6)), 1e-3);
}

}  // namespace
}  // namespace ballast::kernels
