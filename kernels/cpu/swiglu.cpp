// SPDX-License-Identifier: Apache-2.0
#include "kernels/swiglu.h"

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void swigluForward(std::span<const float> gate, std::span<const float> up, std::span<float> out) {
    check(gate.size() == up.size() && gate.size() == out.size(), "swigluForward: sizes");
    loops().swigluForward(gate.data(), up.data(), out.data(), std::ssize(gate));
}

void swigluBackward(const SwigluBackwardInputs& inputs, std::span<float> gateGradient,
                    std::span<float> upGradient) {
    check(inputs.gate.size() == inputs.up.size() && inputs.gate.size() == inputs.outGradient.size() &&
              inputs.gate.size() == gateGradient.size() && inputs.gate.size() == upGradient.size(),
          "swigluBackward: sizes");
    loops().swigluBackward(inputs.gate.data(), inputs.up.data(), inputs.outGradient.data(),
                           gateGradient.data(), upGradient.data(), std::ssize(inputs.gate));
}

}  // namespace ballast::kernels
