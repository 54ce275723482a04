// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/step_collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/cost/memory_cost.h"
#include "tests/support/builders.h"

namespace ballast {
namespace {

CostModel costOf(const Layout& layout, bool tied = false) {
    Scenario scenario = testing::tinyScenario();
    scenario.layout = layout;
    ModelSpec model = testing::tinyModel();
    model.tiedEmbeddings = tied;
    return CostModel(scenario, model, testing::tinyCluster());
}

/// The list as one line: "input gather attention output sum feed sum".
std::string pictureOf(const std::vector<LayerOperation>& operations) {
    std::string picture;
    for (const LayerOperation& operation : operations) {
        if (!picture.empty())
            picture += ' ';
        if (!operation.isCollective)
            switch (operation.part) {
                case LayerPart::AttentionInput:
                    picture += "input";
                    break;
                case LayerPart::Attention:
                    picture += "attention";
                    break;
                case LayerPart::AttentionOutput:
                    picture += "output";
                    break;
                case LayerPart::FeedForward:
                    picture += "feed";
                    break;
            }
        else if (operation.call.purpose == CollectivePurpose::TensorSum)
            picture += "sum";
        else if (operation.call.purpose == CollectivePurpose::GatherKeyValues)
            picture += "gather";
        else
            picture += "scatter";
    }
    return picture;
}

TEST(StepCollectives, LayerListsAreThoseOfTheTrainersPage) {
    CostModel all = costOf({2, 2, 1, 1});
    EXPECT_EQ(pictureOf(layerOperations(all, Direction::Forward, 8, 16)),
              "input gather attention output sum feed sum");
    EXPECT_EQ(pictureOf(layerOperations(all, Direction::Backward, 8, 16)),
              "feed sum output gather attention scatter input sum");
    CostModel alone = costOf({1, 1, 2, 2});
    EXPECT_EQ(pictureOf(layerOperations(alone, Direction::Forward, 8, 16)), "input attention output feed");
    EXPECT_EQ(pictureOf(layerOperations(alone, Direction::Backward, 8, 16)), "feed output attention input");
}

TEST(StepCollectives, BytesAreThoseOfTheFullTensor) {
    CostModel cost = costOf({2, 2, 1, 1});
    // Tiny model: hidden 64, 2 kv heads of 16, fp32: 4 bytes.
    for (const LayerOperation& operation : layerOperations(cost, Direction::Backward, 10, 24)) {
        if (!operation.isCollective)
            continue;
        bool tensor = operation.call.axis == GroupAxis::Tensor;
        // K and V of one of the two kv heads.
        EXPECT_EQ(operation.call.bytes, tensor ? Bytes(10 * 64 * 4) : Bytes(24 * 2 * 1 * 16 * 4));
    }
    EXPECT_EQ(embeddingCollectives(cost, Direction::Forward, 10).front().bytes, Bytes(10 * 64 * 4));
    EXPECT_TRUE(embeddingCollectives(cost, Direction::Backward, 10).empty());
    std::vector<CollectiveCall> head = headCollectives(cost, Direction::Forward, 10);
    ASSERT_EQ(head.size(), 2u);
    EXPECT_EQ(head[0].bytes, Bytes(10 * 4)) << "row maxima";
    EXPECT_EQ(head[1].bytes, Bytes(10 * 2 * 4)) << "exponential sums and target logits";
    EXPECT_EQ(headCollectives(cost, Direction::Backward, 10).front().bytes, Bytes(10 * 64 * 4));
}

TEST(StepCollectives, StepListLeavesOutGroupsOfOneRank) {
    EXPECT_TRUE(stepCollectives(costOf({1, 1, 1, 1}), 0, 0).empty());
    std::vector<CollectiveCall> tensorOnly = stepCollectives(costOf({2, 1, 1, 1}), 0, 0);
    ASSERT_EQ(tensorOnly.size(), 2u);
    EXPECT_EQ(tensorOnly[0].purpose, CollectivePurpose::NormSum);
    EXPECT_EQ(tensorOnly[1].purpose, CollectivePurpose::LossSum);
    EXPECT_EQ(tensorOnly[1].bytes, Bytes(8));
    CostModel cost = costOf({1, 2, 1, 2});
    std::vector<CollectiveCall> context = stepCollectives(cost, 1, 0);
    ASSERT_EQ(context.size(), 3u) << "cp replicates weights too";
    EXPECT_EQ(context[0].purpose, CollectivePurpose::GradientSum);
    EXPECT_EQ(context[0].bytes, Bytes(stageParameters(cost, 1, 0) * 4));
}

TEST(StepCollectives, TiedEmbeddingIsSummedBetweenFirstAndLastStageOnly) {
    auto hasTied = [](const std::vector<CollectiveCall>& calls) {
        return std::any_of(calls.begin(), calls.end(), [](const CollectiveCall& call) {
            return call.purpose == CollectivePurpose::TiedEmbeddingSum;
        });
    };
    CostModel tied = costOf({2, 1, 1, 4}, true);
    EXPECT_TRUE(hasTied(stepCollectives(tied, 0, 0)));
    EXPECT_FALSE(hasTied(stepCollectives(tied, 1, 0)));
    EXPECT_FALSE(hasTied(stepCollectives(tied, 2, 1)));
    EXPECT_TRUE(hasTied(stepCollectives(tied, 3, 1)));
    EXPECT_EQ(stepCollectives(tied, 0, 0)[0].bytes, Bytes(256 / 2 * 64 * 4));
    EXPECT_FALSE(hasTied(stepCollectives(costOf({2, 1, 1, 1}, true), 0, 0))) << "one stage holds it once";
    EXPECT_FALSE(hasTied(stepCollectives(costOf({2, 1, 1, 4}, false), 0, 0)));
}

TEST(StepCollectives, GroupsAreAscendingAndPartitionTheWorld) {
    for (Layout layout : {Layout{2, 3, 2, 4}, Layout{1, 1, 1, 1}, Layout{4, 1, 3, 1}, Layout{1, 2, 1, 2}})
        for (GroupAxis axis : {GroupAxis::Tensor, GroupAxis::Context, GroupAxis::DataAndContext,
                               GroupAxis::EmbeddingPair, GroupAxis::World}) {
            std::set<std::vector<int>> groups;
            for (int rank = 0; rank < layout.worldSize(); ++rank) {
                std::vector<int> group = groupRanks(layout, axis, rank);
                EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
                EXPECT_TRUE(std::find(group.begin(), group.end(), rank) != group.end());
                groups.insert(group);
            }
            std::vector<int> all;
            for (const std::vector<int>& group : groups)
                all.insert(all.end(), group.begin(), group.end());
            std::sort(all.begin(), all.end());
            for (int rank = 0; rank < layout.worldSize(); ++rank)
                EXPECT_EQ(all[static_cast<std::size_t>(rank)], rank);
            EXPECT_EQ(all.size(), static_cast<std::size_t>(layout.worldSize()));
        }
}

TEST(StepCollectives, GroupsFollowMegatronsRankOrder) {
    Layout layout{2, 2, 2, 2};
    EXPECT_EQ(groupRanks(layout, GroupAxis::Tensor, 5), (std::vector<int>{4, 5}));
    EXPECT_EQ(groupRanks(layout, GroupAxis::Context, 5), (std::vector<int>{5, 7}));
    EXPECT_EQ(groupRanks(layout, GroupAxis::DataAndContext, 5), (std::vector<int>{1, 3, 5, 7}));
    EXPECT_EQ(groupRanks(layout, GroupAxis::EmbeddingPair, 5), (std::vector<int>{5, 13}));
    EXPECT_EQ(groupRanks({1, 1, 1, 3}, GroupAxis::EmbeddingPair, 1), std::vector<int>{1});
}

}  // namespace
}  // namespace ballast
