// SPDX-License-Identifier: Apache-2.0
#include "core/base/units.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Quantity, AddsScalesAndDividesToAPlainRatio) {
    EXPECT_EQ(Bytes(3) + Bytes(4), Bytes(7));
    EXPECT_EQ(Bytes(3) * 4, Bytes(12));
    EXPECT_DOUBLE_EQ(Seconds(3) / Seconds(2), 1.5);
    EXPECT_LT(Seconds(1), Seconds(2));
}

TEST(Quantity, SecondsRoundToTheNearestNanosecondOnBothSidesOfZero) {
    EXPECT_EQ(toNanoseconds(Seconds(1.6e-9)), 2);
    EXPECT_EQ(toNanoseconds(Seconds(-1.6e-9)), -2);
    EXPECT_DOUBLE_EQ(toSeconds(1'500'000'000).value(), 1.5);
}

}  // namespace
}  // namespace ballast
