// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace ballast {

/// A number with a unit: quantities of the same unit add and compare, a plain number scales, a ratio is
/// plain.
template <class Unit, class Number>
class Quantity {
  public:
    constexpr Quantity() = default;
    constexpr explicit Quantity(Number value) : value_(value) {}

    constexpr Number value() const { return value_; }

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity& operator+=(Quantity other) { return value_ += other.value_, *this; }
    constexpr Quantity& operator-=(Quantity other) { return value_ -= other.value_, *this; }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
    friend constexpr Quantity operator*(Quantity a, Number factor) { return Quantity(a.value_ * factor); }
    friend constexpr Quantity operator*(Number factor, Quantity a) { return Quantity(a.value_ * factor); }
    friend constexpr Quantity operator/(Quantity a, Number divisor) { return Quantity(a.value_ / divisor); }
    friend constexpr double operator/(Quantity a, Quantity b) {
        return static_cast<double>(a.value_) / static_cast<double>(b.value_);
    }

  private:
    Number value_{};
};

using Seconds = Quantity<struct SecondsUnit, double>;
using Bytes = Quantity<struct BytesUnit, std::int64_t>;

/// Times in timelines and on disk.
using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds toNanoseconds(Seconds time) {
    return static_cast<Nanoseconds>(time.value() * 1e9 + (time.value() < 0 ? -0.5 : 0.5));
}
inline constexpr Seconds toSeconds(Nanoseconds time) {
    return Seconds(static_cast<double>(time) * 1e-9);
}

}  // namespace ballast
