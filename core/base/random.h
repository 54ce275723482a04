// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ballast {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014): the only
/// source of randomness, so that a seed gives the same plan and the same weights on every machine. The
/// algorithm is part of the plan file's promise (kRandomVersion); standard library distributions are not
/// used, since they differ by vendor.
class Random {
  public:
    static constexpr int kRandomVersion = 1;

    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

    /// An independent stream for a purpose, e.g. one a tensor or one an epoch.
    static constexpr Random stream(std::uint64_t seed, std::uint64_t purpose) {
        Random mixed(seed ^ (purpose * 0xD1342543DE82EF95ULL + 0x2545F4914F6CDD1DULL));
        return Random(mixed.next());
    }

    constexpr std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15ULL);
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
        return mixed ^ (mixed >> 31);
    }

    /// Uniform in [0, 1).
    constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    /// Uniform in [0, bound) without modulo bias; bound > 0.
    constexpr std::uint64_t below(std::uint64_t bound) {
        std::uint64_t threshold = (0 - bound) % bound;
        for (;;) {
            std::uint64_t draw = next();
            if (draw >= threshold)
                return draw % bound;
        }
    }

  private:
    std::uint64_t state_;
};

}  // namespace ballast
