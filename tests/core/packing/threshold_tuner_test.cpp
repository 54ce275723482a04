// SPDX-License-Identifier: Apache-2.0
#include "core/packing/threshold_tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/packing/packing_summary.h"
#include "packing_setup.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ThresholdChoices, AreEveryAscendingChoiceOfTheGrid) {
    EXPECT_THAT(thresholdChoices(16, 0), ElementsAre(IsEmpty()));
    EXPECT_THAT(thresholdChoices(16, 1), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(4),
                                                     ElementsAre(8), ElementsAre(12), ElementsAre(14)));
    EXPECT_THAT(thresholdChoices(131072, 2), SizeIs(15));
    EXPECT_THAT(thresholdChoices(131072, 3), SizeIs(20));
    EXPECT_THAT(thresholdChoices(131072, 6),
                ElementsAre(ElementsAre(8192, 16384, 32768, 65536, 98304, 114688)));
}

TEST(ThresholdChoices, LeaveOutWhatASmallWindowCannotTellApart) {
    EXPECT_THAT(thresholdChoices(4, 1), ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(3)));
    EXPECT_THROW(thresholdChoices(4, 4), Error);
    EXPECT_THROW(thresholdChoices(16, 7), Error);
}

struct Sample {
    Sample(const PackingCase& given, double budget) : scenario(scenarioOf(given)), cost(costOf(scenario)) {
        scenario.packing.queues = 2;
        scenario.packing.delayBudgetSteps = budget;
        GivenLengths source(randomLengths(4, 3000, given.window));
        DocumentStream stream(source, scenario.lengths, scenario.microBatchesPerStep());
        while (std::optional<GlobalBatch> batch = stream.next())
            batches.push_back(*batch);
    }

    /// Mean of ratios and delay of one choice, by packing it from scratch.
    std::pair<double, double> packedWith(const std::vector<std::int64_t>& thresholds) const {
        std::unique_ptr<Packer> packer = makePacker({scenario, cost, {thresholds, 128}});
        PackingSummary summary(cost);
        for (const GlobalBatch& batch : batches)
            for (const PackedStep& step : packer->pack(batch))
                summary.add(step);
        while (std::optional<PackedStep> step = packer->drain())
            summary.add(*step);
        return {summary.imbalanceDegreeMeanOfSteps(), summary.meanDelaySteps()};
    }

    Scenario scenario;
    CostModel cost;
    std::vector<GlobalBatch> batches;
};

TEST(ThresholdTuner, TakesTheLeastImbalanceWithinTheDelayBudget) {
    Sample sample({.window = 64, .microBatches = 4}, 1.0);
    TunedThresholds tuned = tuneThresholds(sample.scenario, sample.cost, 128, sample.batches);
    EXPECT_TRUE(tuned.withinBudget);
    EXPECT_LE(tuned.meanDelaySteps, 1.0);
    EXPECT_EQ(sample.packedWith(tuned.thresholds), std::pair(tuned.meanOfSteps, tuned.meanDelaySteps));
    for (const std::vector<std::int64_t>& choice : thresholdChoices(64, 2)) {
        auto [ratio, delay] = sample.packedWith(choice);
        EXPECT_TRUE(delay > 1.0 || ratio >= tuned.meanOfSteps);
    }
}

TEST(ThresholdTuner, TakesTheLeastDelayWhenNothingIsWithinTheBudget) {
    Sample sample({.window = 64, .microBatches = 4}, 0.0);
    TunedThresholds tuned = tuneThresholds(sample.scenario, sample.cost, 128, sample.batches);
    EXPECT_FALSE(tuned.withinBudget);
    for (const std::vector<std::int64_t>& choice : thresholdChoices(64, 2))
        EXPECT_GE(sample.packedWith(choice).second, tuned.meanDelaySteps);
}

struct Choosing : ::testing::Test {
    Scenario scenario = scenarioOf({.window = 64, .microBatches = 4});
    GivenLengths source{randomLengths(4, 3000, 64)};

    ChosenPacking choose() const { return choosePackingConstants(scenario, costOf(scenario), source); }
    std::string refusal() const {
        try {
            choose();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(Choosing, AutoGivesTunedThresholdsAndAtMostTwoWindows) {
    scenario.packing.delayBudgetSteps = 1.0;
    ChosenPacking chosen = choose();
    EXPECT_THAT(chosen.constants.thresholds, SizeIs(2));
    EXPECT_EQ(chosen.constants.maxTokens, 128) << "memory is plenty, so two windows";
    EXPECT_THAT(chosen.notices, IsEmpty());
}

TEST_F(Choosing, SaysWhenNoThresholdsAreWithinTheBudget) {
    scenario.packing.delayBudgetSteps = 0;
    ChosenPacking chosen = choose();
    ASSERT_THAT(chosen.notices, SizeIs(1));
    EXPECT_THAT(chosen.notices[0], HasSubstr("delay_budget_steps=0"));
}

TEST_F(Choosing, GivenValuesAreKept) {
    scenario.packing.thresholds = {10, 20, 30};
    scenario.packing.maxTokens = 80;
    EXPECT_EQ(choose().constants, (PackingConstants{{10, 20, 30}, 80}));
    scenario.packing.thresholds = std::vector<std::int64_t>{};
    EXPECT_THAT(choose().constants.thresholds, IsEmpty());
    scenario.packing.thresholds = {20, 10};
    EXPECT_THAT(refusal(), HasSubstr("packing.thresholds=[20, 10]"));
}

TEST_F(Choosing, RefusesMaxTokensBelowTheLongestPieceBeforeTheFirstStep) {
    scenario.packing.maxTokens = 63;
    EXPECT_THAT(refusal(), HasSubstr("packing.max_tokens=63"));
    EXPECT_THAT(refusal(), HasSubstr("one of 64 tokens"));
    source = GivenLengths({10, 20, 63, 5});
    scenario.packing.thresholds = std::vector<std::int64_t>{};
    EXPECT_EQ(refusal(), "") << "no piece is longer than 63";
}

TEST_F(Choosing, FixedLengthStrategiesHaveNoQueuesAndTheWindow) {
    for (const char* strategy : {"sequential", "greedy"}) {
        scenario.packing.strategy = strategy;
        EXPECT_EQ(choose().constants, (PackingConstants{{}, 64}));
    }
}

TEST_F(Choosing, AnEmptySourceIsNoError) {
    source = GivenLengths({});
    EXPECT_EQ(refusal(), "");
}

TEST(PackerRegistry, RefusesUnknownAndUnbuiltStrategiesByName) {
    auto refusal = [](const std::string& strategy) -> std::string {
        Scenario scenario = scenarioOf({.strategy = strategy});
        CostModel cost = costOf(scenario);
        try {
            makePacker({scenario, cost, {{}, 32}});
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const std::string names = "sequential, greedy, solver, first-fit, best-fit, karmarkar-karp, wlb";
    EXPECT_EQ(refusal("wlbb"), "packing.strategy=wlbb: expected one of " + names);
    EXPECT_EQ(refusal("refined"), "packing.strategy=refined is not built yet; use one of " + names);
    for (std::string_view name : packerNames())
        EXPECT_EQ(refusal(std::string(name)), "");
}

}  // namespace
}  // namespace ballast::testing
