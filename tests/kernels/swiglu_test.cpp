// SPDX-License-Identifier: Apache-2.0
#include "kernels/swiglu.h"

#include <gtest/gtest.h>

#include "kernels/add.h"
#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

double silu(double x) {
    return x / (1.0 + std::exp(-x));
}

class Swiglu : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Cpu, Swiglu, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(Swiglu, EqualsItsDefinitionAndItsGradientsAreItsSlopes) {
    for (const std::int64_t count : {0, 1, 15, 16, 17, 100}) {
        SCOPED_TRACE(count);
        const std::vector<float> gate = randomFloats(count, 1, 3.0F);
        const std::vector<float> up = randomFloats(count, 2);
        const std::vector<float> outGradient = randomFloats(count, 3);
        std::vector<float> out = notANumber(count);
        swigluForward(gate, up, out);
        std::vector<double> wideGate = widen(gate);
        std::vector<double> wideUp = widen(up);
        const auto forward = [&] {
            std::vector<double> result;
            for (std::size_t i = 0; i < wideGate.size(); ++i) {
                result.push_back(silu(wideGate[i]) * wideUp[i]);
            }
            return result;
        };
        EXPECT_LT(relativeError(out, forward()), 1e-6);
        std::vector<float> gateGradient = notANumber(count);
        std::vector<float> upGradient = notANumber(count);
        swigluBackward({gate, up, outGradient}, gateGradient, upGradient);
        const auto loss = [&] { return dot(forward(), outGradient); };
        EXPECT_LT(relativeError(gateGradient, slopes(wideGate, loss)), 2e-6);
        EXPECT_LT(relativeError(upGradient, slopes(wideUp, loss)), 2e-6);
    }
}

TEST_P(Swiglu, StaysFiniteForEveryFiniteGateAndShowsNotANumber) {
    const std::vector<float> gate = {-1e30F, -200.0F, -88.0F, 0.0F, 88.0F, 200.0F, 1e30F, NAN};
    const std::vector<float> up(gate.size(), 1.0F);
    std::vector<float> out = notANumber(8);
    std::vector<float> upGradient = notANumber(8);
    swigluForward(gate, up, out);
    std::vector<float> gateGradient = notANumber(8);
    swigluBackward({gate, up, up}, gateGradient, upGradient);
    EXPECT_NEAR(out[1], 0.0F, 1e-30F);
    EXPECT_NEAR(out[2], 0.0F, 1e-30F);
    EXPECT_EQ(out[3], 0.0F);
    EXPECT_FLOAT_EQ(out[4], 88.0F);
    EXPECT_FLOAT_EQ(out[6], 1e30F);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_TRUE(std::isfinite(out[i]) && std::isfinite(upGradient[i])) << i;
    }
    EXPECT_TRUE(std::isnan(out[7]));
}

TEST_P(Swiglu, WorksInPlace) {
    const std::vector<float> gate = randomFloats(37, 1);
    const std::vector<float> up = randomFloats(37, 2);
    const std::vector<float> outGradient = randomFloats(37, 3);
    std::vector<float> gateGradient = notANumber(37);
    std::vector<float> upGradient = notANumber(37);
    swigluBackward({gate, up, outGradient}, gateGradient, upGradient);
    std::vector<float> inGate = gate;
    std::vector<float> inUp = up;
    swigluBackward({inGate, inUp, outGradient}, inGate, inUp);
    EXPECT_EQ(inGate, gateGradient);
    EXPECT_EQ(inUp, upGradient);
}

TEST_P(Swiglu, AddToSumsElementByElement) {
    std::vector<float> sum = {1.0F, 2.0F, 3.0F};
    addTo(sum, std::vector<float>{10.0F, 20.0F, 30.0F});
    EXPECT_EQ(sum, (std::vector<float>{11.0F, 22.0F, 33.0F}));
}

}  // namespace
}  // namespace ballast::kernels
