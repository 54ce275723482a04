// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/loops.h"

namespace ballast::kernels {

inline std::vector<float> randomFloats(std::int64_t count, std::uint64_t seed, float spread = 1.0F) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::ranges::generate(values, [&] { return normal(generator); });
    return values;
}

inline std::vector<float> notANumber(std::int64_t count) {
    return std::vector<float>(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

inline std::vector<double> widen(std::span<const float> values) {
    return {values.begin(), values.end()};
}

/// |a - b| / |b| in the 2-norm; |a| where b is zero.
inline double relativeError(std::span<const float> a, std::span<const double> b) {
    EXPECT_EQ(a.size(), b.size());
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double apart = static_cast<double>(a[i]) - b[i];
        difference += apart * apart;
        norm += b[i] * b[i];
    }
    return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

/// Slope of `loss` along each value, from central differences in double.
template <typename Loss>
std::vector<double> slopes(std::vector<double>& values, const Loss& loss) {
    constexpr double kStep = 1e-5;
    std::vector<double> slope;
    for (double& value : values) {
        const double kept = value;
        value = kept + kStep;
        const double above = loss();
        value = kept - kStep;
        const double below = loss();
        value = kept;
        slope.push_back((above - below) / (2.0 * kStep));
    }
    return slope;
}

inline double dot(std::span<const double> a, std::span<const float> b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * static_cast<double>(b[i]);
    }
    return sum;
}

/// Runs each test once with every instruction set that this processor has.
class EveryInstructionSet : public testing::TestWithParam<const Loops*> {
  protected:
    void SetUp() override { useLoops(*GetParam()); }
    void TearDown() override { useLoops(*runnableLoops().sets[0]); }
};

inline std::vector<const Loops*> allInstructionSets() {
    const LoopsList list = runnableLoops();
    return {list.sets, list.sets + list.count};
}

inline std::string instructionSetName(const testing::TestParamInfo<const Loops*>& info) {
    std::string name = info.param->name;
    std::erase(name, '-');
    return name;
}

}  // namespace ballast::kernels
