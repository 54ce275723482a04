// SPDX-License-Identifier: Apache-2.0
#include "kernels/rotary.h"

#include <cmath>
#include <vector>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void rotaryAngles(std::span<const std::int64_t> positions, std::int64_t headDim, double theta,
                  std::span<float> cosine, std::span<float> sine) {
    check(headDim > 0 && headDim % 2 == 0, "rotaryAngles: headDim is even");
    const std::int64_t half = headDim / 2;
    check(std::ssize(cosine) == std::ssize(positions) * half && sine.size() == cosine.size(),
          "rotaryAngles: sizes");
    std::vector<double> frequencies(static_cast<std::size_t>(half));
    for (std::int64_t i = 0; i < half; ++i) {
        frequencies[i] = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(headDim));
    }
    for (std::int64_t t = 0; t < std::ssize(positions); ++t) {
        for (std::int64_t i = 0; i < half; ++i) {
            const double angle = static_cast<double>(positions[t]) * frequencies[i];
            cosine[t * half + i] = static_cast<float>(std::cos(angle));
            sine[t * half + i] = static_cast<float>(std::sin(angle));
        }
    }
}

void rotary(RotaryDirection direction, std::int64_t heads, std::int64_t headDim,
            std::span<const float> cosine, std::span<const float> sine, std::span<float> x) {
    check(heads > 0 && headDim > 0 && headDim % 2 == 0, "rotary: heads and an even headDim");
    const std::int64_t half = headDim / 2;
    const std::int64_t tokens = std::ssize(cosine) / half;
    check(sine.size() == cosine.size() && std::ssize(cosine) == tokens * half &&
              std::ssize(x) == tokens * heads * headDim,
          "rotary: sizes");
    const float sign = direction == RotaryDirection::Forward ? 1.0F : -1.0F;
    const Loops& loop = loops();
    for (std::int64_t t = 0; t < tokens; ++t) {
        for (std::int64_t head = 0; head < heads; ++head) {
            float* low = x.data() + (t * heads + head) * headDim;
            loop.rotate(cosine.data() + t * half, sine.data() + t * half, low, low + half, half, sign);
        }
    }
}

}  // namespace ballast::kernels
