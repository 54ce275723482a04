// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/pipeline_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;

std::vector<int> firstMicroBatches(int count) {
    std::vector<int> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

/// The passes of a stage: +i a forward of micro-batch i - 1, -i its backward.
std::vector<int> passesOf(const ActionList& actions) {
    std::vector<int> passes;
    for (const Action& action : actions) {
        if (action.kind == ActionKind::Forward)
            passes.push_back(action.microBatch + 1);
        if (action.kind == ActionKind::Backward)
            passes.push_back(-action.microBatch - 1);
    }
    return passes;
}

std::string faultOf(const std::vector<ActionList>& lists, const std::vector<int>& microBatches) {
    try {
        validateActions(lists, microBatches);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(PipelineSchedule, FollowsThe1F1BOfTheMegatronPaperOnFourStagesAndEightMicroBatches) {
    // Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC 2021, figure 4.
    std::vector<ActionList> lists = pipelineActions("1f1b", 4, firstMicroBatches(8));
    EXPECT_EQ(passesOf(lists[0]), (std::vector<int>{1, 2, 3, 4, -1, 5, -2, 6, -3, 7, -4, 8, -5, -6, -7, -8}));
    EXPECT_EQ(passesOf(lists[3]), (std::vector<int>{1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8, -8}));
}

TEST(PipelineSchedule, SendsAfterEachPassAndReceivesBeforeIt) {
    std::vector<ActionList> lists = pipelineActions("1f1b", 2, firstMicroBatches(1));
    EXPECT_EQ(lists[0], (ActionList{{ActionKind::Forward, 0},
                                    {ActionKind::SendActivation, 0},
                                    {ActionKind::ReceiveGradient, 0},
                                    {ActionKind::Backward, 0}}));
    EXPECT_EQ(lists[1], (ActionList{{ActionKind::ReceiveActivation, 0},
                                    {ActionKind::Forward, 0},
                                    {ActionKind::Backward, 0},
                                    {ActionKind::SendGradient, 0}}));
}

TEST(PipelineSchedule, IsValidForNoneFewerAndMoreMicroBatchesThanStages) {
    for (int stages = 1; stages <= 6; ++stages)
        for (int count = 0; count <= 9; ++count) {
            std::vector<int> microBatches = firstMicroBatches(count);
            std::vector<ActionList> lists = pipelineActions("1f1b", stages, microBatches);
            ASSERT_EQ(lists.size(), static_cast<std::size_t>(stages));
            EXPECT_NO_THROW(validateActions(lists, microBatches)) << stages << " stages, " << count;
        }
}

TEST(PipelineSchedule, LeavesOutMicroBatchesThatAreEmpty) {
    std::vector<int> nonEmpty = {0, 2, 5};
    std::vector<ActionList> lists = pipelineActions("1f1b", 2, nonEmpty);
    EXPECT_EQ(passesOf(lists[1]), (std::vector<int>{1, -1, 3, -3, 6, -6}));
    EXPECT_EQ(faultOf(lists, nonEmpty), "");
}

TEST(PipelineSchedule, RefusesWhatIsNotBuiltByItsKey) {
    try {
        pipelineActions("zb-h1", 2, firstMicroBatches(2));
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("schedule.kind=zb-h1 is not built yet"));
    }
}

TEST(PipelineSchedule, ValidationNamesStageAndActionOfEachKindOfFault) {
    std::vector<int> two = firstMicroBatches(2);
    std::vector<ActionList> good = pipelineActions("1f1b", 2, two);

    std::vector<ActionList> lists = good;
    std::erase(lists[0], Action{ActionKind::SendActivation, 1});
    EXPECT_THAT(faultOf(lists, two), HasSubstr("stage 0"));
    EXPECT_THAT(faultOf(lists, two), HasSubstr("never sent"));

    lists = good;
    std::erase(lists[1], Action{ActionKind::SendGradient, 0});
    EXPECT_THAT(faultOf(lists, two), HasSubstr("stage 0, action"));

    lists = good;
    std::erase(lists[1], Action{ActionKind::ReceiveActivation, 0});
    EXPECT_THAT(faultOf(lists, two), HasSubstr("stage 1, action 0 (forward of micro-batch 0)"));

    lists = good;
    lists[0].insert(lists[0].begin(), {ActionKind::Backward, 0});
    EXPECT_THAT(faultOf(lists, two), HasSubstr("stage 0, action 0 (backward of micro-batch 0)"));

    lists = good;
    lists[1].push_back({ActionKind::Forward, 1});
    EXPECT_NE(faultOf(lists, two), "");

    EXPECT_THAT(faultOf(good, {0, 1, 2}), HasSubstr("micro-batch 2"));
    EXPECT_THAT(faultOf(good, {0}), HasSubstr("not in the step"));
}

TEST(PipelineSchedule, ValidationRefusesMoreInFlightThan1F1BAllows) {
    // All forwards first, as GPipe does: valid messages, but three in flight on the last stage.
    std::vector<ActionList> lists(1);
    for (int i = 0; i < 3; ++i)
        lists[0].push_back({ActionKind::Forward, i});
    for (int i = 0; i < 3; ++i)
        lists[0].push_back({ActionKind::Backward, i});
    EXPECT_THAT(faultOf(lists, {0, 1, 2}), HasSubstr("holds more than 1"));
}

TEST(PipelineSchedule, ValidationSeesMessagesThatCrossWherePeersCannotTellThemApart) {
    // Field case D37 (Megatron-LM issue 5100): messages swapped between two ranks that are each other's next
    // and previous.
    std::vector<int> two = firstMicroBatches(2);
    std::vector<ActionList> lists = pipelineActions("1f1b", 2, two);
    for (Action& action : lists[1])
        if (action.kind == ActionKind::ReceiveActivation)
            action.microBatch = 1 - action.microBatch;
    EXPECT_THAT(faultOf(lists, two), HasSubstr("finds the message of micro-batch 0 first"));
}

TEST(PipelineSchedule, PeakInFlightTokensIsTheLargestRunOfMicroBatchesThatAStageHolds) {
    std::vector<std::int64_t> tokens = {5, 100, 7, 1, 30};
    std::vector<ActionList> lists = pipelineActions("1f1b", 3, firstMicroBatches(5));
    for (std::size_t stage = 0; stage < 3; ++stage) {
        // 1F1B of equal-sized windows holds stages - stage consecutive micro-batches: the largest sum of such
        // a run.
        std::size_t held = 3 - stage;
        std::int64_t expected = 0;
        for (std::size_t first = 0; first + held <= tokens.size(); ++first)
            expected =
                std::max(expected, std::accumulate(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                                   tokens.begin() + static_cast<std::ptrdiff_t>(first + held),
                                                   std::int64_t{0}));
        EXPECT_EQ(peakInFlightTokens(lists[stage], tokens), expected);
    }
    EXPECT_EQ(inFlightPeak(lists[2], tokens).microBatch, 1);
    EXPECT_EQ(peakInFlightTokens({}, tokens), 0);
    EXPECT_EQ(inFlightPeak({}, tokens).microBatch, -1);
}

}  // namespace
}  // namespace ballast
