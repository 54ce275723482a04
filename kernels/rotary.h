// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ballast::kernels {

/// Cosine and sine of every token's rotation, to be computed once a micro-batch and used by all layers and
/// heads: angle[t, i] = positions[t] * theta^(-2*i/headDim) for i < headDim/2, in double, rounded to fp32 at
/// the end.
///
/// positions   [tokens], place of each token inside its piece, 0 or more
/// cosine      [tokens, headDim/2], written
/// sine        [tokens, headDim/2], written
/// source      Su et al. 2021, RoFormer, equation 15; frequencies as in Hugging Face's Llama
void rotaryAngles(std::span<const std::int64_t> positions, std::int64_t headDim, double theta,
                  std::span<float> cosine, std::span<float> sine);

enum class RotaryDirection {
    Forward,  ///< rotates queries and keys
    Inverse,  ///< rotates their gradients back
};

/// Rotates the pairs (i, i + headDim/2) of every head of every token in place, as Hugging Face pairs them.
///
/// x              [tokens, heads, headDim], overwritten
/// cosine, sine   [tokens, headDim/2], from rotaryAngles; their size gives tokens
void rotary(RotaryDirection direction, std::int64_t heads, std::int64_t headDim,
            std::span<const float> cosine, std::span<const float> sine, std::span<float> x);

}  // namespace ballast::kernels
