// SPDX-License-Identifier: Apache-2.0
#include "core/job/layout.h"

#include <gtest/gtest.h>

namespace ballast {
namespace {

TEST(Layout, RanksRunOverTpThenCpThenDpThenPpAsInMegatron) {
    const Layout layout{2, 3, 4, 5};
    int rank = 0;
    for (int pp = 0; pp < 5; ++pp)
        for (int dp = 0; dp < 4; ++dp)
            for (int cp = 0; cp < 3; ++cp)
                for (int tp = 0; tp < 2; ++tp, ++rank) {
                    EXPECT_EQ(layout.rankOf({tp, cp, dp, pp}), rank);
                    EXPECT_EQ(layout.coordinateOf(rank), (Coordinate{tp, cp, dp, pp}));
                }
    EXPECT_EQ(layout.worldSize(), rank);
}

}  // namespace
}  // namespace ballast
