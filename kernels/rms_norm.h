// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ballast::kernels {

struct RmsNormShape {
    std::int64_t tokens = 0;
    std::int64_t width = 0;  ///< hidden size
    float epsilon = 1e-5F;   ///< added to the mean square
};

/// out[t, i] = weight[i] * in[t, i] * inverseRms[t], where inverseRms[t] = 1 / sqrt(mean of in[t]^2 +
/// epsilon).
///
/// in, out      [tokens, width]; out must not overlap in
/// weight       [width]
/// inverseRms   [tokens], written, kept for the backward pass
/// source       Zhang and Sennrich 2019, Root Mean Square Layer Normalization, equation 4
void rmsNormForward(const RmsNormShape& shape, std::span<const float> in, std::span<const float> weight,
                    std::span<float> out, std::span<float> inverseRms);

struct RmsNormBackwardInputs {
    std::span<const float> in;           ///< [tokens, width], as in the forward pass
    std::span<const float> weight;       ///< [width]
    std::span<const float> inverseRms;   ///< [tokens], as the forward pass left it
    std::span<const float> outGradient;  ///< [tokens, width]
};

/// ADDS to both: the gradient of a norm joins that of the residual stream, and weights gather over
/// micro-batches.
///
/// inGradient       [tokens, width]
/// weightGradient   [width]
void rmsNormBackward(const RmsNormShape& shape, const RmsNormBackwardInputs& inputs,
                     std::span<float> inGradient, std::span<float> weightGradient);

}  // namespace ballast::kernels
