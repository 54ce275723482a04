// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm.h"

#include <gtest/gtest.h>

#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

constexpr float kEpsilon = 1e-3F;

std::vector<double> plainNorm(std::int64_t width, const std::vector<double>& in,
                              const std::vector<double>& weight) {
    std::vector<double> out(in.size());
    for (std::size_t row = 0; row < in.size(); row += width) {
        double squares = 0.0;
        for (std::int64_t i = 0; i < width; ++i) {
            squares += in[row + i] * in[row + i];
        }
        const double inverse =
            1.0 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(kEpsilon));
        for (std::int64_t i = 0; i < width; ++i) {
            out[row + i] = weight[i] * in[row + i] * inverse;
        }
    }
    return out;
}

class RmsNorm : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Cpu, RmsNorm, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(RmsNorm, EqualsItsDefinitionAndItsGradientsAreItsSlopes) {
    for (const std::int64_t width : {1, 5, 16, 37, 128}) {
        SCOPED_TRACE(width);
        const RmsNormShape shape{3, width, kEpsilon};
        const std::vector<float> in = randomFloats(3 * width, 1);
        const std::vector<float> weight = randomFloats(width, 2);
        const std::vector<float> outGradient = randomFloats(3 * width, 3);
        std::vector<float> out = notANumber(3 * width);
        std::vector<float> inverseRms = notANumber(3);
        rmsNormForward(shape, in, weight, out, inverseRms);

        std::vector<double> wideIn = widen(in);
        std::vector<double> wideWeight = widen(weight);
        EXPECT_LT(relativeError(out, plainNorm(width, wideIn, wideWeight)), 1e-6);
        const auto loss = [&] { return dot(plainNorm(width, wideIn, wideWeight), outGradient); };
        std::vector<float> inGradient(in.size(), 0.0F);
        std::vector<float> weightGradient(weight.size(), 0.0F);
        rmsNormBackward(shape, {in, weight, inverseRms, outGradient}, inGradient, weightGradient);
        EXPECT_LT(relativeError(inGradient, slopes(wideIn, loss)), width == 1 ? 1e-3 : 5e-6);
        EXPECT_LT(relativeError(weightGradient, slopes(wideWeight, loss)), 1e-6);
    }
}

TEST_P(RmsNorm, BackwardAddsToBothGradients) {
    const RmsNormShape shape{2, 20, kEpsilon};
    const std::vector<float> in = randomFloats(40, 1);
    const std::vector<float> weight(20, 1.0F);
    std::vector<float> out(40);
    std::vector<float> inverseRms(2);
    rmsNormForward(shape, in, weight, out, inverseRms);
    std::vector<float> once(40, 0.0F);
    std::vector<float> twice(40, 0.0F);
    std::vector<float> weightOnce(20, 0.0F);
    std::vector<float> weightTwice(20, 0.0F);
    rmsNormBackward(shape, {in, weight, inverseRms, out}, once, weightOnce);
    rmsNormBackward(shape, {in, weight, inverseRms, out}, twice, weightTwice);
    rmsNormBackward(shape, {in, weight, inverseRms, out}, twice, weightTwice);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_NEAR(twice[i], 2.0F * once[i], 1e-6F);
        EXPECT_NEAR(weightTwice[i], 2.0F * weightOnce[i], 1e-5F);
    }
}

}  // namespace
}  // namespace ballast::kernels
