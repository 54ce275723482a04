// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "packing_setup.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Greedy {
    explicit Greedy(PackingCase given)
        : packingCase(given),
          scenario(scenarioOf(given)),
          cost(costOf(scenario)),
          packer(makePacker({scenario, cost, constantsOf(given)})) {}

    PackingCase packingCase;
    Scenario scenario;
    CostModel cost;
    std::unique_ptr<Packer> packer;
};

TEST(GreedyPacker, PutsTheLongestFirstIntoTheLeastPairsThatFits) {
    Greedy greedy({.strategy = "greedy", .window = 10, .dp = 1, .microBatches = 2});
    // 7 | 6, then 3 to the one with 21 pairs (6 of 10 tokens), 2 to the one with 27 pairs but 9 tokens: does
    // not fit, so to the other; 1 to the least pairs that fits. The lighter one goes first.
    std::vector<PackedStep> steps = greedy.packer->pack(batchOf({1, 2, 3, 6, 7}));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_THAT(lengthsOf(steps[0]), ElementsAre(ElementsAre(7, 2), ElementsAre(6, 3, 1)));
    EXPECT_FALSE(greedy.packer->drain().has_value());
}

TEST(GreedyPacker, CarriesAPieceThatFitsNowhereBeforeOthersOfItsLength) {
    Greedy greedy({.strategy = "greedy", .window = 10, .dp = 1, .microBatches = 2});
    std::vector<PackedStep> first = greedy.packer->pack(batchOf({6, 6, 6}));
    EXPECT_THAT(lengthsOf(first[0]), ElementsAre(ElementsAre(6), ElementsAre(6)));
    EXPECT_EQ(first[0].carried.documents, 1);
    EXPECT_EQ(first[0].carried.remainedTokens, 6);
    std::vector<PackedStep> second = greedy.packer->pack(batchOf({6, 6}, 1, 3));
    std::vector<std::int64_t> documents;
    for (const MicroBatch& microBatch : second[0].microBatches)
        documents.push_back(microBatch.pieces[0].document);
    EXPECT_THAT(documents, ::testing::UnorderedElementsAre(2, 3));
    std::optional<PackedStep> last = greedy.packer->drain();
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->kind, StepKind::Drain);
    EXPECT_EQ(last->step, 2);
    EXPECT_THAT(lengthsOf(*last), ElementsAre(ElementsAre(6), IsEmpty()));
    EXPECT_FALSE(greedy.packer->drain().has_value());
}

TEST(GreedyPacker, PoolsBatchesAndDealsSimilarMicroBatchesToTheSameStep) {
    Greedy greedy({.strategy = "greedy", .window = 10, .dp = 1, .microBatches = 2, .batches = 2});
    EXPECT_THAT(greedy.packer->pack(batchOf({10, 5, 5})), IsEmpty());
    EXPECT_EQ(greedy.packer->waiting().size(), 3u);
    std::vector<PackedStep> steps = greedy.packer->pack(batchOf({10, 5, 5}, 1, 3));
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_THAT(lengthsOf(steps[0]), ElementsAre(ElementsAre(10), ElementsAre(10)));
    EXPECT_THAT(lengthsOf(steps[1]), ElementsAre(ElementsAre(5, 5), ElementsAre(5, 5)));
    EXPECT_EQ(steps[0].step, 0);
    EXPECT_EQ(steps[1].step, 1);
    EXPECT_EQ(steps[1].kind, StepKind::Full);
}

TEST(GreedyPacker, DrainsAPoolThatTheSourceLeftUnfinished) {
    Greedy greedy({.strategy = "greedy", .window = 10, .dp = 1, .microBatches = 1, .batches = 3});
    EXPECT_THAT(greedy.packer->pack(batchOf({10})), IsEmpty());
    GlobalBatch last = batchOf({4}, 1, 1);
    last.partial = true;
    EXPECT_THAT(greedy.packer->pack(last), IsEmpty());
    std::optional<PackedStep> first = greedy.packer->drain();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->kind, StepKind::Full);
    EXPECT_EQ(greedy.packer->waiting().size(), 1u) << "the second step is not handed out yet";
    std::optional<PackedStep> second = greedy.packer->drain();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->kind, StepKind::Partial);
    EXPECT_EQ(second->step, 1);
    EXPECT_FALSE(greedy.packer->drain().has_value());
}

TEST(GreedyPacker, NeverExceedsTheWindowWhateverMaxTokensSays) {
    PackingCase given{.strategy = "greedy", .window = 10, .dp = 1, .microBatches = 2};
    Scenario scenario = scenarioOf(given);
    scenario.packing.maxTokens = 15;
    CostModel cost = costOf(scenario);
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, {{}, 15}});
    std::vector<PackedStep> steps = packer->pack(batchOf({5, 5, 5, 5, 5}));
    for (const MicroBatch& microBatch : steps[0].microBatches)
        EXPECT_LE(microBatch.tokens, 10);
    scenario.packing.maxTokens = 5;
    packer = makePacker({scenario, cost, {{}, 5}});
    steps = packer->pack(batchOf({5, 5, 5}));
    for (const MicroBatch& microBatch : steps[0].microBatches)
        EXPECT_LE(microBatch.tokens, 5);
}

TEST(GreedyPacker, RefusesAPieceOverItsCapacityAndKeepsItsState) {
    Greedy greedy({.strategy = "greedy", .window = 8, .dp = 1, .microBatches = 1, .batches = 2});
    greedy.packer->pack(batchOf({3}));
    try {
        greedy.packer->pack(batchOf({3, 20, 3}, 1, 1));
        FAIL() << "a piece of 20 in a window of 8 passed";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("lengths.window=8"));
        EXPECT_THAT(error.what(), HasSubstr("document 2"));
        EXPECT_THAT(error.what(), HasSubstr("20 tokens"));
    }
    EXPECT_EQ(greedy.packer->waiting().size(), 1u);
}

}  // namespace
}  // namespace ballast::testing
