// SPDX-License-Identifier: Apache-2.0
#include "core/packing/workload_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "packing_setup.h"
#include "plain_workload_packing.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Wlb {
    explicit Wlb(PackingCase given)
        : scenario(scenarioOf(given)), cost(costOf(scenario)), packer({scenario, cost, constantsOf(given)}) {}

    Scenario scenario;
    CostModel cost;
    WorkloadPacker packer;
};

TEST(WorkloadPacker, MakesAMicroBatchOfShortPiecesLongerThanTheWindow) {
    Wlb wlb({.window = 16, .microBatches = 2, .maxTokens = 24, .crossover = 16});
    // 16 weighs 16*16 + 16*16 = 512, a piece of 2 weighs 36: eight of them weigh 288.
    std::vector<PackedStep> steps = wlb.packer.pack(batchOf({16, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_THAT(lengthsOf(steps[0]), ElementsAre(ElementsAre(2, 2, 2, 2, 2, 2, 2, 2, 2, 2), ElementsAre(16)));
    EXPECT_EQ(steps[0].microBatches[0].tokens, 20);
    EXPECT_EQ(steps[0].microBatches[0].work, 360);
}

TEST(WorkloadPacker, FillsUpToMaxTokensInclusive) {
    Wlb wlb({.window = 16, .microBatches = 2, .maxTokens = 16});
    EXPECT_THAT(lengthsOf(wlb.packer.pack(batchOf({16, 16}))[0]),
                ElementsAre(ElementsAre(16), ElementsAre(16)));
    EXPECT_FALSE(wlb.packer.drain().has_value());
}

TEST(WorkloadPacker, TriesTheShortestWhenTheLightestIsFull) {
    Wlb wlb({.window = 16, .microBatches = 2, .maxTokens = 12, .crossover = 1});
    // 10 weighs 110, two of 6 weigh 84 but are full; 2 goes to the shorter, heavier one.
    EXPECT_THAT(lengthsOf(wlb.packer.pack(batchOf({10, 6, 6, 2}))[0]),
                ElementsAre(ElementsAre(6, 6), ElementsAre(10, 2)));
}

TEST(WorkloadPacker, PacksWhatRemainedBeforeLongerFreshPieces) {
    Wlb wlb({.window = 8, .microBatches = 1, .maxTokens = 8});
    EXPECT_THAT(lengthsOf(wlb.packer.pack(batchOf({5, 4}))[0]), ElementsAre(ElementsAre(5)));
    std::vector<PackedStep> second = wlb.packer.pack(batchOf({6, 4}, 1, 2));
    EXPECT_THAT(lengthsOf(second[0]), ElementsAre(ElementsAre(4, 4)));
    EXPECT_EQ(second[0].carried.documents, 1);
    EXPECT_EQ(second[0].carried.remainedTokens, 6);
    EXPECT_EQ(second[0].carried.queuedTokens, 0);
}

TEST(WorkloadPacker, KeepsOutliersUntilEveryMicroBatchCanGetOne) {
    Wlb wlb({.window = 16, .microBatches = 2, .thresholds = {12}});
    std::vector<PackedStep> first = wlb.packer.pack(batchOf({16, 4, 4}));
    EXPECT_THAT(lengthsOf(first[0]), ElementsAre(ElementsAre(4), ElementsAre(4)));
    EXPECT_EQ(first[0].carried.queuedTokens, 16);
    std::vector<PackedStep> second = wlb.packer.pack(batchOf({14, 1, 1}, 1, 3));
    EXPECT_THAT(lengthsOf(second[0]), ElementsAre(ElementsAre(14, 1, 1), ElementsAre(16)));
    EXPECT_EQ(second[0].carried.documents, 0);
    EXPECT_FALSE(wlb.packer.drain().has_value());
}

TEST(WorkloadPacker, DrainGoesOnUntilNothingWaits) {
    Wlb wlb({.window = 16, .microBatches = 2, .thresholds = {8}, .maxTokens = 16});
    // The queue holds five and a step has room for two.
    EXPECT_THAT(lengthsOf(wlb.packer.pack(batchOf({15, 15, 15, 15, 15}))[0]),
                ElementsAre(ElementsAre(15), ElementsAre(15)));
    std::vector<std::int64_t> numbers;
    std::vector<std::size_t> sizes;
    while (std::optional<PackedStep> step = wlb.packer.drain()) {
        EXPECT_EQ(step->kind, StepKind::Drain);
        numbers.push_back(step->step);
        std::size_t pieces = 0;
        for (const MicroBatch& microBatch : step->microBatches)
            pieces += microBatch.pieces.size();
        sizes.push_back(pieces);
    }
    EXPECT_THAT(numbers, ElementsAre(1, 2));
    EXPECT_THAT(sizes, ElementsAre(2, 1));
    EXPECT_THAT(wlb.packer.waiting(), IsEmpty());
}

TEST(WorkloadPacker, RefusesAPieceOverMaxTokensAndKeepsItsState) {
    Wlb wlb({.window = 16, .microBatches = 2, .thresholds = {12}, .maxTokens = 15});
    wlb.packer.pack(batchOf({13}));
    try {
        wlb.packer.pack(batchOf({13, 16}, 1, 1));
        FAIL() << "a piece of 16 in micro-batches of 15 passed";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("packing.max_tokens=15"));
        EXPECT_THAT(error.what(), HasSubstr("16 tokens"));
    }
    EXPECT_EQ(wlb.packer.waiting().size(), 1u);
}

TEST(WorkloadPacker, CountsAlignedLengthsAgainstTheLimitAndRealOnesAsTokens) {
    PackingCase given{.window = 16, .microBatches = 1, .maxTokens = 16};
    Scenario scenario = scenarioOf(given);
    scenario.packing.align = 4;
    CostModel cost = costOf(scenario);
    WorkloadPacker packer({scenario, cost, constantsOf(given)});
    // 5 counts 8, so that the third does not fit.
    std::vector<PackedStep> steps = packer.pack(batchOf({5, 5, 5}));
    EXPECT_EQ(steps[0].microBatches[0].tokens, 10);
    EXPECT_EQ(steps[0].carried.documents, 1);
    PackingConstants misaligned{{}, 18};
    try {
        WorkloadPacker refused({scenario, cost, misaligned});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("the nearest are 16 and 20"));
    }
}

TEST(WorkloadPacker, HonoursMaxDocuments) {
    PackingCase given{.window = 16, .microBatches = 2};
    Scenario scenario = scenarioOf(given);
    scenario.packing.maxDocuments = 2;
    CostModel cost = costOf(scenario);
    WorkloadPacker packer({scenario, cost, constantsOf(given)});
    std::vector<PackedStep> steps = packer.pack(batchOf({1, 1, 1, 1, 1}));
    EXPECT_THAT(lengthsOf(steps[0]), ElementsAre(ElementsAre(1, 1), ElementsAre(1, 1)));
    EXPECT_EQ(steps[0].carried.documents, 1);
}

using DocumentLists = std::vector<std::vector<std::int64_t>>;

DocumentLists sorted(DocumentLists lists) {
    std::sort(lists.begin(), lists.end());
    return lists;
}

DocumentLists ordersOf(const PackedStep& step) {
    DocumentLists lists;
    for (const MicroBatch& microBatch : step.microBatches) {
        std::vector<std::int64_t>& list = lists.emplace_back();
        for (const Piece& piece : microBatch.pieces)
            list.push_back(piece.order);
    }
    return sorted(lists);
}

DocumentLists ordersOf(const PlainWorkloadPacking::MicroBatches& microBatches) {
    DocumentLists lists;
    for (const std::vector<Piece>& pieces : microBatches) {
        std::vector<std::int64_t>& list = lists.emplace_back();
        for (const Piece& piece : pieces)
            list.push_back(piece.order);
    }
    return sorted(lists);
}

TEST(WorkloadPacker, AgreesWithTheRulesWrittenOutPlainly) {
    Random random(11);
    for (std::uint64_t round = 0; round < 300; ++round) {
        auto upTo = [&](std::int64_t bound) {
            return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
        };
        PackingCase given{.window = 8 + upTo(60),
                          .dp = static_cast<int>(upTo(3)),
                          .microBatches = static_cast<int>(upTo(4)),
                          .crossover = upTo(100)};
        given.maxTokens = given.window + upTo(given.window) - 1;
        std::int64_t threshold = 0;
        for (std::uint64_t queues = random.below(4); queues > 0; --queues)
            given.thresholds.push_back(threshold += upTo(given.window / 3));
        Wlb wlb(given);
        PlainWorkloadPacking plain(given.dp * given.microBatches, given.maxTokens, given.crossover,
                                   given.thresholds);
        GivenLengths source(randomLengths(round, 80, given.window));
        DocumentStream stream(source, wlb.scenario.lengths, given.dp * given.microBatches);
        while (std::optional<GlobalBatch> batch = stream.next())
            ASSERT_EQ(ordersOf(wlb.packer.pack(*batch)[0]), ordersOf(plain.pack(batch->pieces)))
                << "round " << round << ", step " << batch->step;
        while (std::optional<PackedStep> step = wlb.packer.drain()) {
            ASSERT_TRUE(plain.anythingWaits()) << "round " << round;
            ASSERT_EQ(ordersOf(*step), ordersOf(plain.drain())) << "round " << round;
        }
        EXPECT_FALSE(plain.anythingWaits()) << "round " << round;
    }
}

}  // namespace
}  // namespace ballast::testing
