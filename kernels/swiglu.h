// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace ballast::kernels {

/// out = silu(gate) * up, elementwise, silu(x) = x / (1 + exp(-x)). All spans have one size; out may be gate
/// or up.
///
/// source   Shazeer 2020, GLU Variants Improve Transformer, equation 6
void swigluForward(std::span<const float> gate, std::span<const float> up, std::span<float> out);

struct SwigluBackwardInputs {
    std::span<const float> gate;
    std::span<const float> up;
    std::span<const float> outGradient;
};

/// Overwrites both gradients. gateGradient may be gate or outGradient, upGradient may be up or outGradient
/// (in place).
void swigluBackward(const SwigluBackwardInputs& inputs, std::span<float> gateGradient,
                    std::span<float> upGradient);

}  // namespace ballast::kernels
