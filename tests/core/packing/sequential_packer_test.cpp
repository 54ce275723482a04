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

TEST(SequentialPacker, MakesWindowJMicroBatchJDivDpOfRankJModDp) {
    PackingCase four{.strategy = "sequential", .window = 4, .dp = 2, .microBatches = 2};
    Scenario scenario = scenarioOf(four);
    CostModel cost = costOf(scenario);
    PackedSource packed = packSource(scenario, cost, GivenLengths({4, 1, 3, 2, 2, 4}), constantsOf(four));
    ASSERT_EQ(packed.steps.size(), 1u);
    // Windows [4] [1 3] [2 2] [4]: rank 0 takes 0 and 2, rank 1 takes 1 and 3.
    EXPECT_THAT(lengthsOf(packed.steps[0]),
                ElementsAre(ElementsAre(4), ElementsAre(2, 2), ElementsAre(1, 3), ElementsAre(4)));
    EXPECT_EQ(packed.steps[0].microBatches[2].dp, 1);
    EXPECT_EQ(packed.steps[0].microBatches[2].index, 0);
}

TEST(SequentialPacker, FillsEveryWindowButTheLastOfTheSource) {
    PackingCase three{.strategy = "sequential", .window = 3, .dp = 1, .microBatches = 3};
    Scenario scenario = scenarioOf(three);
    CostModel cost = costOf(scenario);
    // huggingface/trl TestPackDatasetWrapped (Apache-2.0): lengths 3, 4, 1 in rows of 3 give rows of 3, 3, 2.
    PackedSource packed = packSource(scenario, cost, GivenLengths({3, 4, 1}), constantsOf(three));
    ASSERT_EQ(packed.steps.size(), 1u);
    EXPECT_EQ(packed.steps[0].kind, StepKind::Partial);
    EXPECT_THAT(lengthsOf(packed.steps[0]), ElementsAre(ElementsAre(3), ElementsAre(3), ElementsAre(1, 1)));
}

TEST(SequentialPacker, KeepsEmptyWindowsOfAPartialBatchAndSaysSo) {
    PackingCase four{.strategy = "sequential", .window = 4, .dp = 1, .microBatches = 4};
    Scenario scenario = scenarioOf(four);
    CostModel cost = costOf(scenario);
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(four)});
    GlobalBatch batch = batchOf({4, 2});
    batch.partial = true;
    std::vector<PackedStep> steps = packer->pack(batch);
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_THAT(lengthsOf(steps[0]), ElementsAre(ElementsAre(4), ElementsAre(2), IsEmpty(), IsEmpty()));
    EXPECT_FALSE(packer->drain().has_value());
    ASSERT_EQ(packer->notices().size(), 1u);
    EXPECT_THAT(packer->notices()[0], HasSubstr("1 of 1 steps have empty micro-batches"));
}

TEST(SequentialPacker, RefusesWhatWholeWindowsCannotHonour) {
    PackingCase plain{.strategy = "sequential"};
    auto refused = [&](auto change) {
        Scenario scenario = scenarioOf(plain);
        change(scenario);
        CostModel cost = costOf(scenario);
        try {
            makePacker({scenario, cost, constantsOf(plain)});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused([](Scenario& s) { s.lengths.cut = CutPolicy::None; }), HasSubstr("lengths.cut"));
    EXPECT_THAT(refused([](Scenario& s) { s.packing.align = 8; }), HasSubstr("packing.align=8"));
    EXPECT_THAT(refused([](Scenario& s) { s.packing.maxDocuments = 3; }),
                HasSubstr("packing.max_documents=3"));
    EXPECT_THAT(refused([](Scenario& s) { s.packing.maxTokens = 15; }), HasSubstr("packing.max_tokens=15"));
    EXPECT_EQ(refused([](Scenario& s) { s.packing.maxTokens = 16; }), "");
}

}  // namespace
}  // namespace ballast::testing
