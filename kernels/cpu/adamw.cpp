// SPDX-License-Identifier: Apache-2.0
#include "kernels/adamw.h"

#include <array>
#include <cmath>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void adamwStep(const AdamW& settings, std::span<const float> gradients, const AdamWState& state) {
    check(settings.step >= 1, "adamwStep: steps count from 1");
    check(gradients.size() == state.weights.size() && gradients.size() == state.firstMoment.size() &&
              gradients.size() == state.secondMoment.size(),
          "adamwStep: sizes");
    const auto step = static_cast<double>(settings.step);
    const double firstCorrection = 1.0 - std::pow(settings.beta1, step);
    const double secondCorrection = 1.0 - std::pow(settings.beta2, step);
    const std::array<double, 9> factors = {settings.gradientScale,
                                           settings.beta1,
                                           1.0 - settings.beta1,
                                           settings.beta2,
                                           1.0 - settings.beta2,
                                           settings.rate / firstCorrection,
                                           1.0 / std::sqrt(secondCorrection),
                                           settings.epsilon,
                                           1.0 - settings.rate * settings.weightDecay};
    std::array<float, 9> rounded{};
    for (std::size_t i = 0; i < factors.size(); ++i) {
        rounded[i] = static_cast<float>(factors[i]);
    }
    loops().adamw(rounded.data(), gradients.data(), state.weights.data(), state.firstMoment.data(),
                  state.secondMoment.data(), std::ssize(gradients));
}

double sumOfSquares(std::span<const float> values) {
    return loops().sumOfSquares(values.data(), std::ssize(values));
}

}  // namespace ballast::kernels
