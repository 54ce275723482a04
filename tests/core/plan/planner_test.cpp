// SPDX-License-Identifier: Apache-2.0
#include "core/plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/plan/plan_validation.h"
#include "tests/core/plan/plan_setup.h"
#include "tests/support/builders.h"

namespace ballast {
namespace {

using testing::badInput;
using ::testing::HasSubstr;
using testing::mixedLengths;
using testing::PlanFolder;
using testing::TemporaryDirectory;

struct StepCounts {
    int full = 0;
    int partial = 0;
    int drain = 0;
};

StepCounts countsOf(const std::vector<PlanStep>& steps) {
    StepCounts counts;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i)) << "numbered on";
        counts.full += steps[i].kind == StepKind::Full;
        counts.partial += steps[i].kind == StepKind::Partial;
        counts.drain += steps[i].kind == StepKind::Drain;
        EXPECT_TRUE(i == 0 || steps[i - 1].kind != StepKind::Drain || steps[i].kind == StepKind::Drain);
    }
    return counts;
}

/// Every (document, token) exactly once in a micro-batch or a listed discard, known from the lengths alone.
void expectConserved(const std::vector<std::int64_t>& lengths, Planner& planner, std::int64_t epochs = 1) {
    std::map<std::int64_t, std::vector<std::int64_t>> seen;
    auto see = [&](std::int64_t document, std::int64_t begin, std::int64_t end) {
        ASSERT_GE(document, 0);
        ASSERT_LT(document, static_cast<std::int64_t>(lengths.size()));
        std::int64_t length = lengths[static_cast<std::size_t>(document)];
        ASSERT_LE(0, begin);
        ASSERT_LT(begin, end);
        ASSERT_LE(end, length);
        std::vector<std::int64_t>& counts = seen[document];
        counts.resize(static_cast<std::size_t>(length));
        for (std::int64_t token = begin; token < end; ++token)
            ++counts[static_cast<std::size_t>(token)];
    };
    for (const PlanStep& step : planAll(planner)) {
        EXPECT_NO_THROW(validatePlanStep(step, planner.header().scenario.layout, "plan", epochs));
        for (const PlannedMicroBatch& planned : step.microBatches)
            for (const Piece& piece : planned.batch.pieces)
                see(piece.document, piece.begin, piece.end);
    }
    EXPECT_TRUE(planner.waiting().empty()) << "all is drained";
    for (const Discard& discard : planner.discards())
        see(discard.document, discard.begin, discard.end);
    for (std::size_t document = 0; document < lengths.size(); ++document)
        for (std::int64_t token = 0; token < lengths[document]; ++token)
            ASSERT_EQ(seen[static_cast<std::int64_t>(document)][static_cast<std::size_t>(token)], epochs)
                << "document " << document << ", token " << token;
}

TEST(Planner, TakesStepsGlobalBatchesThenDrains) {
    PlanFolder folder(mixedLengths(1, 400));
    for (std::string_view packing : {"sequential", "greedy", "wlb"}) {
        Planner planner(folder.scenario(packing), 3);
        EXPECT_EQ(planner.batchesToTake(), 3);
        std::vector<PlanStep> steps = planAll(planner);
        StepCounts counts = countsOf(steps);
        EXPECT_EQ(counts.full, 3) << packing;
        EXPECT_EQ(counts.partial, 0);
        std::int64_t tokens = 0;
        for (const PlanStep& step : steps)
            tokens += step.tokens();
        EXPECT_EQ(tokens, 3 * 4 * 64) << "three batches of N = 4 windows, drain included";
        EXPECT_EQ(planner.header().scenario.steps, 3);
    }
}

TEST(Planner, TakesFewerWhenTheSourceEndsFirst) {
    PlanFolder folder(std::vector<std::int64_t>(9, 64));
    Planner planner(folder.scenario("sequential"), 50);
    std::vector<PlanStep> steps = planAll(planner);
    StepCounts counts = countsOf(steps);
    EXPECT_EQ(counts.full, 2);
    EXPECT_EQ(counts.partial, 1);
    EXPECT_EQ(counts.drain, 0);
    EXPECT_EQ(planner.batchesToTake(), 3);
    EXPECT_EQ(steps.back().microBatches.size(), 4u) << "empty micro-batches stay in the list";
}

TEST(Planner, WithoutStepsTakesTheScenariosThenAnEpochOfAFileThenTwenty) {
    PlanFolder folder(std::vector<std::int64_t>(4 * 25, 64));
    Scenario scenario = folder.scenario("sequential");
    Planner whole(scenario);
    EXPECT_EQ(whole.batchesToTake(), std::nullopt) << "known when the file has ended";
    EXPECT_EQ(planAll(whole).size(), 25u);
    EXPECT_EQ(whole.batchesToTake(), 25);
    scenario.steps = 7;
    Planner stated(scenario);
    EXPECT_EQ(planAll(stated).size(), 7u);
    Planner asked(scenario, 2);
    EXPECT_EQ(planAll(asked).size(), 2u);
    scenario.steps = std::nullopt;
    scenario.lengths.source = {"wlb-4k"};
    Planner drawn(scenario);
    EXPECT_EQ(countsOf(planAll(drawn)).full, 20);
    EXPECT_THAT(badInput([&] { Planner(scenario, -1); }), HasSubstr("steps"));
    Planner none(scenario, 0);
    EXPECT_TRUE(planAll(none).empty());
}

TEST(Planner, EveryTokenIsTrainedOnceOrListedAsDiscarded) {
    std::vector<std::vector<std::int64_t>> sets = {
        mixedLengths(2, 300),
        std::vector<std::int64_t>(20, 16),
        {100000},
        std::vector<std::int64_t>(1000, 1),
        {3, 2, 1, 3, 2},
        {65, 64, 63, 200, 1},
        {0, 0, 5, 0},
        {0, 0},
        {},
    };
    for (const std::vector<std::int64_t>& lengths : sets) {
        PlanFolder folder(lengths);
        for (std::string_view packing : {"sequential", "greedy", "wlb"})
            for (std::string_view sharding : {"per-sequence", "per-document", "adaptive"})
                for (OverlongPolicy overlong :
                     {OverlongPolicy::Split, OverlongPolicy::Truncate, OverlongPolicy::Drop}) {
                    Scenario scenario = folder.scenario(packing, sharding);
                    scenario.lengths.overlong = overlong;
                    Planner planner(scenario);
                    expectConserved(lengths, planner);
                }
    }
}

TEST(Planner, AShortSourceMayComeRoundAgainWithinAStep) {
    std::vector<std::int64_t> lengths = {5, 30, 9};
    PlanFolder folder(lengths);
    for (std::string_view packing : {"sequential", "greedy", "wlb"}) {
        Scenario scenario = folder.scenario(packing);
        scenario.lengths.epochs = 12;
        Planner planner(scenario);
        expectConserved(lengths, planner, 12);
    }
}

TEST(Planner, WhatWaitsAndWhatIsTrainedAreWhatHasArrived) {
    PlanFolder folder(mixedLengths(5, 600));
    Planner planner(folder.scenario("wlb"));
    std::int64_t trained = 0;
    for (int step = 0; step < 4; ++step) {
        std::optional<PlanStep> next = planner.next();
        ASSERT_TRUE(next.has_value());
        trained += next->tokens();
        std::int64_t waiting = 0;
        for (const Piece& piece : planner.waiting())
            waiting += piece.length();
        EXPECT_EQ(trained + waiting, (step + 1) * 4 * 64);
        EXPECT_EQ(waiting, next->carried.queuedTokens + next->carried.remainedTokens);
    }
}

TEST(Planner, IsTheSameOnEveryRun) {
    PlanFolder folder(mixedLengths(6, 300));
    Planner first(folder.scenario());
    Planner second(folder.scenario());
    EXPECT_EQ(testing::picturesOf(planAll(first)), testing::picturesOf(planAll(second)));
    EXPECT_EQ(first.header().chosen, second.header().chosen);
}

TEST(Planner, KeepsTheConstantsThatAutoBecame) {
    PlanFolder folder(mixedLengths(7, 300));
    Planner planner(folder.scenario("wlb"));
    EXPECT_EQ(planner.header().chosen.thresholds.size(), 2u);
    EXPECT_EQ(planner.header().chosen.maxTokens, 128) << "at most two windows, which fit with room to spare";
    EXPECT_THAT(planner.header().sourceDescription, HasSubstr("lengths.txt"));
    EXPECT_EQ(planner.header().model.hiddenSize, 128);
}

TEST(Planner, SaysAfterTheLastStepThatMicroBatchesStayedEmpty) {
    // Field case B27 (huggingface/trl PR 7328): fewer groups than ranks.
    PlanFolder folder({10, 20, 30});
    Planner planner(folder.scenario("wlb"));
    planAll(planner);
    EXPECT_THAT(planner.notices(), ::testing::Contains(HasSubstr("empty")));
    EXPECT_THAT(planner.header().notices, ::testing::Not(::testing::Contains(HasSubstr("steps have empty"))));
}

TEST(Planner, RefusesAStepOverTheMemoryNamingRankStageAndMicroBatch) {
    std::vector<std::int64_t> lengths(40, 4096);
    PlanFolder folder(lengths, 0.05);
    Scenario scenario = folder.scenario("sequential");
    scenario.lengths.window = 16384;
    Planner planner(scenario);
    std::string sentence = badInput([&] { planAll(planner); });
    EXPECT_THAT(sentence, HasSubstr("step 0: rank "));
    EXPECT_THAT(sentence, HasSubstr("(stage 0)"));
    EXPECT_THAT(sentence, HasSubstr("micro-batch 1 of dp 0"));
    EXPECT_THAT(sentence, HasSubstr("0.05 GiB"));
}

TEST(Planner, RefusesWhatIsNotBuiltByItsKey) {
    PlanFolder folder({10, 20});
    Scenario scenario = folder.scenario();
    scenario.schedule.kind = "gpipe";
    EXPECT_THAT(badInput([&] { Planner{scenario}; }), HasSubstr("schedule.kind"));
    scenario = folder.scenario("refined");
    EXPECT_THAT(badInput([&] { Planner{scenario}; }), HasSubstr("packing.strategy"));
    scenario = folder.scenario();
    scenario.recompute = "full";
    EXPECT_THAT(badInput([&] { Planner{scenario}; }), HasSubstr("recompute"));
    scenario = folder.scenario();
    scenario.lengths.source = {"/nowhere/lengths.txt"};
    EXPECT_THAT(badInput([&] { Planner{scenario}; }), HasSubstr("/nowhere/lengths.txt"));
    scenario = folder.scenario();
    scenario.packing.maxTokens = 8;
    scenario.lengths.order = DocumentOrder::Source;
    EXPECT_THAT(badInput([&] { Planner{scenario}; }), HasSubstr("max_tokens")) << "below the longest piece";
}

TEST(PlanStep, CountsEveryTokenButTheLastOfEachPieceAsATarget) {
    PlanStep step;
    PlannedMicroBatch planned;
    planned.batch.pieces = {{0, 0, 7}, {1, 3, 4}, {2, 10, 12}};
    planned.batch.tokens = 10;
    step.microBatches = {planned, {}};
    EXPECT_EQ(step.tokens(), 10);
    EXPECT_EQ(step.targets(), 6 + 0 + 1);
}

/// A cluster on which a block of 128 queries costs as much as 60 tiles, so that cutting short documents is
/// dear: the plan has micro-batches for either strategy.
TEST(Planner, AdaptiveTakesOneStrategyForSomeMicroBatchesAndTheOtherForOthers) {
    TemporaryDirectory directory;
    ClusterSpec cluster = testing::tinyCluster();
    cluster.memoryGiB = 1000;
    cluster.attention[0].forward.b = cluster.attention[0].backward.b = 60;
    Scenario scenario;
    scenario.lengths.window = 65536;
    scenario.model = "demo";
    scenario.cluster = directory.write("cluster.json", clusterSpecJson(cluster)).string();
    scenario.layout = {1, 4, 1, 1};
    scenario.microBatches = 4;
    scenario.packing.strategy = "sequential";
    Planner planner(scenario, 20);
    std::map<std::string, int> chosen;
    for (const PlanStep& step : planAll(planner))
        for (const PlannedMicroBatch& planned : step.microBatches) {
            ++chosen[planned.sharding.strategy];
            const ShardingChoice choice =
                compareShardings(planned.batch.pieces, "adaptive", 4, planner.cost());
            EXPECT_EQ(choice.strategies[choice.chosen], planned.sharding);
        }
    EXPECT_GE(chosen["per-sequence"], 5);
    EXPECT_GE(chosen["per-document"], 5);
}

}  // namespace
}  // namespace ballast
