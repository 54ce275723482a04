// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backend/kill/killed_run.h"

namespace ballast {
namespace {

using namespace ballast::testing;
using ::testing::AnyOf;

constexpr int kKills = 10;
constexpr int kSeconds = 30;  // what a person waits at most until the state is right

TEST(Kill, OfARankEndsTheRunWithItsRankAndHost) {
    Random random(101);
    for (int kill = 0; kill < kKills; ++kill) {
        const Moment moment = kMoments[kill % 5];
        SCOPED_TRACE(fmt::format("kill {} in {}", kill, momentName(moment)));
        KilledRun run(random);
        run.waitFor(moment);
        run.killRank();
        const bool late = run.shutsDown();
        const RunState state = run.endWithin(kSeconds);
        fmt::print("rank killed in {}: {} after {} of {} steps: {}\n", momentName(moment),
                   runStateName(state), run.wholeSteps(), run.plannedSteps(), run.failure());
        if (late) {  // a rank that had said its last word is not missed
            EXPECT_THAT(state, AnyOf(RunState::Failed, RunState::Done)) << run.failure();
        } else {
            EXPECT_EQ(state, RunState::Failed) << run.failure();
        }
        EXPECT_EQ(run.failure().empty(), state == RunState::Done);
        run.expectSound();
    }
}

TEST(Kill, OfMpirunLeavesNoOrphan) {
    Random random(102);
    for (int kill = 0; kill < kKills; ++kill) {
        const Moment moment = kMoments[kill % 5];
        SCOPED_TRACE(fmt::format("kill {} in {}", kill, momentName(moment)));
        KilledRun run(random);
        run.waitFor(moment);
        run.killLauncher();
        const bool late = run.shutsDown();
        const RunState state = run.endWithin(kSeconds);
        fmt::print("mpirun killed in {}: {} after {} of {} steps: {}\n", momentName(moment),
                   runStateName(state), run.wholeSteps(), run.plannedSteps(), run.failure());
        if (late) {
            EXPECT_THAT(state, AnyOf(RunState::Failed, RunState::Done)) << run.failure();
        } else {
            EXPECT_EQ(state, RunState::Failed) << run.failure();
        }
        run.expectSound();
    }
}

TEST(Kill, OfRunnerAndStudioIsSurvivedByTheRun) {
    Random random(103);
    for (int kill = 0; kill < kKills; ++kill) {
        Moment studio = kMoments[kill % 5];
        Moment runner = kMoments[(kill + kill / 5 * 2) % 5];
        SCOPED_TRACE(
            fmt::format("kill {}: studio in {}, runner in {}", kill, momentName(studio), momentName(runner)));
        KilledRun run(random);
        if (studio <= runner) {
            run.waitFor(studio);
            run.killStudio();
            run.waitFor(runner);
            run.killRunner();
        } else {
            run.waitFor(runner);
            run.killRunner();
            run.waitFor(studio);
            run.killStudio();
        }
        EXPECT_EQ(run.attach(), 0);
        const RunState state = run.endWithin(kSeconds);
        fmt::print("studio killed in {}, runner in {}: {} after {} of {} steps {}\n", momentName(studio),
                   momentName(runner), runStateName(state), run.wholeSteps(), run.plannedSteps(),
                   run.failure());
        EXPECT_EQ(state, RunState::Done) << run.failure();
        EXPECT_EQ(run.wholeSteps(), run.plannedSteps());
        run.expectSound();
    }
}

}  // namespace
}  // namespace ballast
