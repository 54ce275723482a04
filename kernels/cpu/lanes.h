// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace ballast::kernels {

/// The compilers' vector types of each width.
template <int kWidth>
struct Registers;
template <>
struct Registers<16> {
    typedef float Float __attribute__((vector_size(64)));
    typedef std::int32_t Int __attribute__((vector_size(64)));
    typedef std::uint32_t Bits __attribute__((vector_size(64)));
    typedef float Unaligned __attribute__((vector_size(64), aligned(4), may_alias));
    typedef double Doubles __attribute__((vector_size(128)));
};
template <>
struct Registers<8> {
    typedef float Float __attribute__((vector_size(32)));
    typedef std::int32_t Int __attribute__((vector_size(32)));
    typedef std::uint32_t Bits __attribute__((vector_size(32)));
    typedef float Unaligned __attribute__((vector_size(32), aligned(4), may_alias));
    typedef double Doubles __attribute__((vector_size(64)));
};
template <>
struct Registers<4> {
    typedef float Float __attribute__((vector_size(16)));
    typedef std::int32_t Int __attribute__((vector_size(16)));
    typedef std::uint32_t Bits __attribute__((vector_size(16)));
    typedef float Unaligned __attribute__((vector_size(16), aligned(4), may_alias));
    typedef double Doubles __attribute__((vector_size(32)));
};

/// A register of kWidth floats and what the kernels do with it, in the compilers' portable vector extension.
/// Each width is used by one source file only, which is compiled for the instruction set that has it: 16 for
/// AVX-512, 8 for AVX2, 4 elsewhere. That keeps code of a newer instruction set out of everything that an
/// older processor runs.
template <int kWidth>
struct Lanes {
    using Float = typename Registers<kWidth>::Float;
    using Int = typename Registers<kWidth>::Int;
    using Bits = typename Registers<kWidth>::Bits;
    using Unaligned = typename Registers<kWidth>::Unaligned;

    [[gnu::always_inline]] static Float load(const float* from) {
        return *reinterpret_cast<const Unaligned*>(from);
    }
    [[gnu::always_inline]] static void store(float* to, Float value) {
        *reinterpret_cast<Unaligned*>(to) = value;
    }
    [[gnu::always_inline]] static Float set(float value) { return value - Float{}; }

    /// The first `count` floats, `rest` in the other lanes.
    [[gnu::always_inline]] static Float loadPart(const float* from, std::int64_t count, float rest) {
        float all[kWidth];
        for (int i = 0; i < kWidth; ++i) {
            all[i] = i < count ? from[i] : rest;
        }
        return load(all);
    }
    [[gnu::always_inline]] static void storePart(float* to, std::int64_t count, Float value) {
        float all[kWidth];
        store(all, value);
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = all[i];
        }
    }

    /// 0, 1, 2, ...
    [[gnu::always_inline]] static Int ramp() {
        std::int32_t all[kWidth];
        for (int i = 0; i < kWidth; ++i) {
            all[i] = i;
        }
        return __builtin_bit_cast(Int, all);
    }

    /// The larger of each lane; `old` where `candidate` is not a number.
    [[gnu::always_inline]] static Float larger(Float old, Float candidate) {
        return candidate > old ? candidate : old;
    }

    [[gnu::always_inline]] static float sum(Float value) {
        float all[kWidth];
        store(all, value);
        for (int half = kWidth / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; ++i) {
                all[i] += all[i + half];
            }
        }
        return all[0];
    }
    [[gnu::always_inline]] static float maximum(Float value) {
        float all[kWidth];
        store(all, value);
        for (int half = kWidth / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; ++i) {
                all[i] = all[i + half] > all[i] ? all[i + half] : all[i];
            }
        }
        return all[0];
    }

    /// 2^x, within 2 units in the last place; 0 below -126, where softmax has nothing to lose; x at most 127;
    /// not a number stays so. The exponent comes from rounding x by a large addend, the rest from a
    /// polynomial of degree 6, the least relative error on [-0.5, 0.5] (1e-9 before rounding).
    [[gnu::always_inline]] static Float exp2(Float x) {
        constexpr float kLeast = -126.0F;
        constexpr float kRounder =
            12582912.0F;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
        constexpr std::uint32_t kOne = 0x3F800000U;
        constexpr int kMantissaBits = 23;
        const Int gone = x < kLeast;
        const Float inRange = gone ? set(kLeast) : x;
        const Float rounded = inRange + kRounder;
        const Float f = inRange - (rounded - kRounder);
        const Bits exponent = (__builtin_bit_cast(Bits, rounded) << kMantissaBits) + kOne;
        Float value = set(kExp2[6]);
        for (int i = 5; i >= 0; --i) {
            value = value * f + kExp2[i];
        }
        value = value * __builtin_bit_cast(Float, exponent);
        return gone ? Float{} : value;
    }

    /// e^x for x in about [-87, 87]; outside of it the value at the border, so that 1 / (1 + e^x) stays
    /// finite.
    [[gnu::always_inline]] static Float expClamped(Float x) {
        constexpr float kLog2E = 1.44269504F;
        constexpr float kBorder = 126.0F;
        Float t = x * kLog2E;
        t = t < -kBorder ? set(-kBorder) : t;
        t = t > kBorder ? set(kBorder) : t;
        return exp2(t);
    }

    static constexpr float kExp2[7] = {1.0F,           0.693147207F,   0.240226509F,   0.0555032723F,
                                       0.00961805668F, 0.00134004282F, 0.000154614447F};
};

}  // namespace ballast::kernels
