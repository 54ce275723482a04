// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "tests/app/studio/studio_fixture.h"

namespace ballast::studio {
namespace {

const auto kNever = [] { return false; };

TEST(WhatIf, SumsUpTheStepsThatThePlannerAndTheSimulatorGave) {
    const Scenario scenario = testing::smallScenario();
    const auto simulated = simulateScenario(scenario, 4, kNever);
    ASSERT_TRUE(simulated);
    Planner planner(scenario, 4);
    const std::vector<PlanStep> plan = planAll(planner);
    ASSERT_EQ(simulated->plan.size(), plan.size());
    double seconds = 0;
    double tokens = 0;
    double heaviest = 0;
    double mean = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        EXPECT_EQ(simulated->plan[i].tokens(), plan[i].tokens());
        seconds += simulated->steps[i].stepTime.value();
        tokens += static_cast<double>(plan[i].tokens());
        double most = 0;
        double sum = 0;
        int filled = 0;
        for (const PlannedMicroBatch& planned : plan[i].microBatches) {
            if (planned.batch.pieces.empty())
                continue;
            const double work = planner.cost().workload(planned.batch.work).value();
            most = std::max(most, work);
            sum += work;
            ++filled;
        }
        heaviest += most;
        mean += sum / filled;
    }
    EXPECT_NEAR(simulated->figures.secondsPerToken, seconds / tokens, 1e-12 * seconds);
    EXPECT_NEAR(simulated->figures.tokensPerSecond, tokens / seconds, 1e-9 * tokens / seconds);
    EXPECT_NEAR(simulated->figures.imbalanceDegree, heaviest / mean, 1e-9);
    EXPECT_EQ(simulated->figures.tokens, static_cast<std::int64_t>(tokens));
}

TEST(WhatIf, HoldsTheScenarioAgainstTheSameTokensWithoutBalancing) {
    const Scenario scenario = testing::smallScenario();
    const auto chosen = simulateScenario(scenario, 4, kNever);
    const auto baseline = simulateScenario(unbalanced(scenario), 4, kNever);
    const auto tokens = [](const SimulatedScenario& simulated) {
        std::multiset<std::pair<std::int64_t, std::int64_t>> pieces;
        for (const PlanStep& step : simulated.plan) {
            for (const PlannedMicroBatch& planned : step.microBatches) {
                for (const Piece& piece : planned.batch.pieces)
                    pieces.emplace(piece.document, piece.begin);
            }
        }
        return pieces;
    };
    EXPECT_EQ(tokens(*chosen), tokens(*baseline));
    EXPECT_LT(chosen->figures.imbalanceDegree, baseline->figures.imbalanceDegree);
}

TEST(WhatIf, DrawsTheStepThatItTimed) {
    const auto simulated = simulateScenario(testing::smallScenario(), 2, kNever);
    for (std::size_t i = 0; i < simulated->steps.size(); ++i) {
        const auto step = simulateOne(*simulated, i);
        EXPECT_NEAR(toSeconds(step->end - step->begin).value(), simulated->steps[i].stepTime.value(), 2e-9);
        EXPECT_EQ(step->ranks.size(), 8U);
    }
}

TEST(WhatIf, GivesNothingOnceCancelled) {
    int asked = 0;
    EXPECT_FALSE(simulateScenario(testing::smallScenario(), 4, [&asked] { return ++asked > 2; }));
}

TEST(WhatIf, NamesTheKeyOfAScenarioThatCantBePlanned) {
    Scenario scenario = testing::smallScenario();
    scenario.packing.maxTokens = 1000;  // below the longest piece
    try {
        simulateScenario(scenario, 4, kNever);
        FAIL() << "planned";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("max_tokens"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace ballast::studio
