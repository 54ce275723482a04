// SPDX-License-Identifier: Apache-2.0
#include "core/packing/least_slot.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace ballast {
namespace {

TEST(LeastSlot, AnswersAsAScanDoesWithTiesToTheLowestSlot) {
    Random random(7);
    for (std::size_t slots : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 64u, 100u}) {
        LeastSlot<double> fast(slots);
        std::vector<double> values(slots, 0.0);
        for (int change = 0; change < 500; ++change) {
            auto scanned =
                static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
            ASSERT_EQ(fast.least(), scanned) << slots << " slots, change " << change;
            std::size_t slot = random.below(slots);
            values[slot] = static_cast<double>(random.below(5));
            fast.set(slot, values[slot]);
            ASSERT_EQ(fast.value(slot), values[slot]);
        }
    }
}

}  // namespace
}  // namespace ballast
