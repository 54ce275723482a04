// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/run_choice.h"

#include <gtest/gtest.h>

namespace ballast::studio {
namespace {

RunRow row(RunId id, RunKind kind, const std::string& name, std::int64_t steps) {
    RunRow one;
    one.record.id = id;
    one.record.kind = kind;
    one.record.name = name;
    one.figures.steps = steps;
    return one;
}

TEST(RunChoice, ShowsTheNewestFullMeasuredRunAndHoldsItAgainstTheUnbalancedOne) {
    RunList list;
    list.runs = {row(1, RunKind::Simulated, "sequential + per-sequence", 90),
                 row(2, RunKind::Measured, "sequential + per-sequence", 90),
                 row(3, RunKind::Simulated, "wlb + adaptive", 92),
                 row(4, RunKind::Measured, "wlb + adaptive", 92),
                 row(5, RunKind::Measured, "wlb + adaptive", 3),
                 row(6, RunKind::Measured, "wlb + adaptive", 3)};
    EXPECT_EQ(runToShow(list), 4);
    EXPECT_EQ(pairToCompare(list), std::pair(RunId{2}, RunId{4}));
}

TEST(RunChoice, TakesSimulationsWhereNothingWasMeasured) {
    RunList list;
    list.runs = {row(1, RunKind::Simulated, "wlb + adaptive", 20),
                 row(2, RunKind::Simulated, "sequential + per-sequence", 20)};
    EXPECT_EQ(runToShow(list), 1);
    EXPECT_EQ(pairToCompare(list), std::pair(RunId{2}, RunId{1}));
}

TEST(RunChoice, GivesNothingWhereThereIsNothing) {
    RunList list;
    EXPECT_EQ(runToShow(list), std::nullopt);
    list.runs = {row(1, RunKind::Measured, "wlb + adaptive", 5)};
    EXPECT_EQ(pairToCompare(list), std::nullopt);
}

}  // namespace
}  // namespace ballast::studio
