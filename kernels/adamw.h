// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ballast::kernels {

struct AdamW {
    double rate = 0;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    double weightDecay = 0;    ///< decoupled: weights shrink by rate * weightDecay; 0 for norms and biases
    double gradientScale = 1;  ///< multiplies each gradient first: 1 / targets, clipping
    std::int64_t step = 1;     ///< number of this update, from 1, for the bias correction
};

struct AdamWState {
    std::span<float> weights;
    std::span<float> firstMoment;
    std::span<float> secondMoment;
};

/// One update of all weights. Spans have one size; all three of the state are overwritten, gradients are only
/// read.
///
/// precision   fp32 elementwise; the factors that all elements share are worked out in double
/// source      Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization, algorithm 2
void adamwStep(const AdamW& settings, std::span<const float> gradients, const AdamWState& state);

/// Sum of values[i]^2, each square and the sum in double; for the gradient norm.
double sumOfSquares(std::span<const float> values);

}  // namespace ballast::kernels
