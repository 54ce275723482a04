// SPDX-License-Identifier: Apache-2.0
#include "kernels/rms_norm.h"

#include <cmath>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void rmsNormForward(const RmsNormShape& shape, std::span<const float> in, std::span<const float> weight,
                    std::span<float> out, std::span<float> inverseRms) {
    check(std::ssize(in) == shape.tokens * shape.width && out.size() == in.size() &&
              std::ssize(weight) == shape.width && std::ssize(inverseRms) == shape.tokens,
          "rmsNormForward: sizes");
    const Loops& loop = loops();
    for (std::int64_t t = 0; t < shape.tokens; ++t) {
        const float* row = in.data() + t * shape.width;
        const float squares = loop.sumOfProducts(row, row, nullptr, shape.width);
        const float inverse = 1.0F / std::sqrt(squares / static_cast<float>(shape.width) + shape.epsilon);
        inverseRms[t] = inverse;
        loop.rmsNormRow(row, weight.data(), out.data() + t * shape.width, shape.width, inverse);
    }
}

void rmsNormBackward(const RmsNormShape& shape, const RmsNormBackwardInputs& inputs,
                     std::span<float> inGradient, std::span<float> weightGradient) {
    check(std::ssize(inputs.in) == shape.tokens * shape.width &&
              inputs.outGradient.size() == inputs.in.size() && inGradient.size() == inputs.in.size() &&
              std::ssize(inputs.weight) == shape.width && std::ssize(weightGradient) == shape.width &&
              std::ssize(inputs.inverseRms) == shape.tokens,
          "rmsNormBackward: sizes");
    const Loops& loop = loops();
    for (std::int64_t t = 0; t < shape.tokens; ++t) {
        const std::int64_t at = t * shape.width;
        const float* row = inputs.in.data() + at;
        const float* gradient = inputs.outGradient.data() + at;
        const float inverse = inputs.inverseRms[t];
        // The derivative of inverseRms pulls along the row: in * inverse^3 * mean(weight * outGradient * in).
        const float dot = loop.sumOfProducts(inputs.weight.data(), gradient, row, shape.width);
        const float pull = dot * inverse * inverse * inverse / static_cast<float>(shape.width);
        loop.rmsNormBackwardRow(row, inputs.weight.data(), gradient, inGradient.data() + at,
                                weightGradient.data(), shape.width, inverse, pull);
    }
}

}  // namespace ballast::kernels
