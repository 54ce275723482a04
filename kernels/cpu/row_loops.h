// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/lanes.h"

namespace ballast::kernels {

/// Loops over rows of floats, see Loops (kernels/cpu/loops.h).

/// Calls visit(offset, count) for whole registers, then once for the rest, with count < kWidth.
template <int kWidth, typename Visit>
[[gnu::always_inline]] inline void forEachRegister(std::int64_t count, const Visit& visit) {
    std::int64_t i = 0;
    for (; i + kWidth <= count; i += kWidth) {
        visit(i, std::int64_t{kWidth});
    }
    if (i < count) {
        visit(i, count - i);
    }
}

template <int kWidth>
[[gnu::always_inline]] inline typename Lanes<kWidth>::Float loadUpTo(const float* from, std::int64_t count,
                                                                     float rest) {
    return count == kWidth ? Lanes<kWidth>::load(from) : Lanes<kWidth>::loadPart(from, count, rest);
}

template <int kWidth>
[[gnu::always_inline]] inline void storeUpTo(float* to, std::int64_t count,
                                             const typename Lanes<kWidth>::Float& value) {
    if (count == kWidth) {
        Lanes<kWidth>::store(to, value);
    } else {
        Lanes<kWidth>::storePart(to, count, value);
    }
}

template <int kWidth>
void swigluForwardLoop(const float* gate, const float* up, float* out, std::int64_t count) {
    using L = Lanes<kWidth>;
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        const typename L::Float g = loadUpTo<kWidth>(gate + i, n, 0.0F);
        const typename L::Float sigmoid = 1.0F / (1.0F + L::expClamped(-g));
        storeUpTo<kWidth>(out + i, n, g * sigmoid * loadUpTo<kWidth>(up + i, n, 0.0F));
    });
}

template <int kWidth>
void swigluBackwardLoop(const float* gate, const float* up, const float* outGradient, float* gateGradient,
                        float* upGradient, std::int64_t count) {
    using L = Lanes<kWidth>;
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        const typename L::Float g = loadUpTo<kWidth>(gate + i, n, 0.0F);
        const typename L::Float u = loadUpTo<kWidth>(up + i, n, 0.0F);
        const typename L::Float d = loadUpTo<kWidth>(outGradient + i, n, 0.0F);
        const typename L::Float sigmoid = 1.0F / (1.0F + L::expClamped(-g));
        storeUpTo<kWidth>(gateGradient + i, n, d * u * sigmoid * (1.0F + g * (1.0F - sigmoid)));
        storeUpTo<kWidth>(upGradient + i, n, d * g * sigmoid);
    });
}

template <int kWidth>
float maximumLoop(const float* values, std::int64_t count) {
    using L = Lanes<kWidth>;
    typename L::Float most = L::set(-__builtin_inff());
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        most = L::larger(most, loadUpTo<kWidth>(values + i, n, -__builtin_inff()));
    });
    return L::maximum(most);
}

inline constexpr float kLog2OfE = 1.44269504F;

template <int kWidth>
float sumOfExpLoop(const float* values, std::int64_t count, float shift) {
    using L = Lanes<kWidth>;
    typename L::Float total{};
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        total += L::exp2((loadUpTo<kWidth>(values + i, n, -__builtin_inff()) - shift) * kLog2OfE);
    });
    return L::sum(total);
}

template <int kWidth>
void scaledExpLoop(float* values, std::int64_t count, float shift, float factor) {
    using L = Lanes<kWidth>;
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        const typename L::Float x = loadUpTo<kWidth>(values + i, n, -__builtin_inff());
        storeUpTo<kWidth>(values + i, n, factor * L::exp2((x - shift) * kLog2OfE));
    });
}

template <int kWidth>
float sumOfProductsLoop(const float* a, const float* b, const float* c, std::int64_t count) {
    using L = Lanes<kWidth>;
    typename L::Float total{};
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        typename L::Float product = loadUpTo<kWidth>(a + i, n, 0.0F) * loadUpTo<kWidth>(b + i, n, 0.0F);
        if (c != nullptr) {
            product *= loadUpTo<kWidth>(c + i, n, 0.0F);
        }
        total += product;
    });
    return L::sum(total);
}

template <int kWidth>
double sumOfSquaresLoop(const float* values, std::int64_t count) {
    using Doubles = typename Registers<kWidth>::Doubles;
    Doubles total{};
    forEachRegister<kWidth>(count, [&](std::int64_t i, std::int64_t n) {
        const Doubles wide = __builtin_convertvector(loadUpTo<kWidth>(values + i, n, 0.0F), Doubles);
        total += wide * wide;
    });
    double sum = 0.0;
    double all[kWidth];
    __builtin_memcpy(all, &total, sizeof(all));
    for (const double part : all) {
        sum += part;
    }
    return sum;
}

template <int kWidth>
void rmsNormRowLoop(const float* in, const float* weight, float* __restrict out, std::int64_t count,
                    float inverseRms) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = weight[i] * (in[i] * inverseRms);
    }
}

template <int kWidth>
void rmsNormBackwardRowLoop(const float* in, const float* weight, const float* outGradient,
                            float* __restrict inGradient, float* __restrict weightGradient,
                            std::int64_t count, float inverseRms, float pull) {
    for (std::int64_t i = 0; i < count; ++i) {
        inGradient[i] += weight[i] * outGradient[i] * inverseRms - in[i] * pull;
        weightGradient[i] += in[i] * inverseRms * outGradient[i];
    }
}

template <int kWidth>
void rotateLoop(const float* cosine, const float* sine, float* __restrict low, float* __restrict high,
                std::int64_t count, float sign) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float a = low[i];
        const float b = high[i];
        const float s = sign * sine[i];
        low[i] = a * cosine[i] - b * s;
        high[i] = b * cosine[i] + a * s;
    }
}

template <int kWidth>
void addLoop(float* sum, const float* term, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        sum[i] += term[i];
    }
}

template <int kWidth>
void adamwLoop(const float* factors, const float* gradients, float* __restrict weights,
               float* __restrict firstMoment, float* __restrict secondMoment, std::int64_t count) {
    const float scale = factors[0];
    const float keepFirst = factors[1];
    const float joinFirst = factors[2];
    const float keepSecond = factors[3];
    const float joinSecond = factors[4];
    const float rate = factors[5];
    const float rootScale = factors[6];
    const float epsilon = factors[7];
    const float keepWeight = factors[8];
    for (std::int64_t i = 0; i < count; ++i) {
        const float gradient = scale * gradients[i];
        const float first = keepFirst * firstMoment[i] + joinFirst * gradient;
        const float second = keepSecond * secondMoment[i] + joinSecond * gradient * gradient;
        firstMoment[i] = first;
        secondMoment[i] = second;
        weights[i] = keepWeight * weights[i] - rate * first / (__builtin_sqrtf(second) * rootScale + epsilon);
    }
}

}  // namespace ballast::kernels
