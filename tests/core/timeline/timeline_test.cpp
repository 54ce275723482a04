// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/timeline.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ballast {
namespace {

Span spanOf(SpanKind kind, Nanoseconds begin, Nanoseconds waitingUntil, Nanoseconds end,
            Lane lane = Lane::Compute) {
    return {.begin = begin, .end = end, .waitingUntil = waitingUntil, .kind = kind, .lane = lane};
}

double secondsOf(const RankBreakdown& breakdown, SpanKind kind) {
    return breakdown.kindSeconds[static_cast<std::size_t>(kind)];
}

TEST(SpanNames, AreOneToOneAndThoseOfTheTrainersPage) {
    std::set<std::string_view> names;
    for (int value = 1; value <= kSpanKindCount; ++value) {
        auto kind = static_cast<SpanKind>(value);
        names.insert(spanKindName(kind));
        EXPECT_EQ(spanKindFromName(spanKindName(kind)), kind);
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(kSpanKindCount));
    for (std::string_view name :
         {"forward", "backward", "embedding", "attention_forward", "attention_backward", "linear_forward",
          "linear_backward", "elementwise", "loss", "tp_collective", "cp_gather", "cp_scatter", "pp_send",
          "pp_receive", "dp_reduce", "optimizer", "packing", "checkpoint"})
        EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_EQ(spanKindName(static_cast<SpanKind>(0)), "");
    EXPECT_EQ(spanKindName(static_cast<SpanKind>(200)), "");
    EXPECT_FALSE(spanKindFromName("").has_value());
    EXPECT_FALSE(spanKindFromName("Forward").has_value());
}

TEST(SpanNames, EachKindIsComputeCommunicationPassOrHostWork) {
    std::set<SpanKind> others = {SpanKind::Forward, SpanKind::Backward, SpanKind::Packing,
                                 SpanKind::Checkpoint};
    for (int value = 1; value <= kSpanKindCount; ++value) {
        auto kind = static_cast<SpanKind>(value);
        EXPECT_EQ(isCompute(kind) + isCommunication(kind) + others.contains(kind), 1) << spanKindName(kind);
    }
}

TEST(Breakdown, SplitsARankByHandAndSumsToTheStepTime) {
    RankSpans rank;
    rank.spans = {
        spanOf(SpanKind::Forward, 10, 10, 60, Lane::Pipeline), spanOf(SpanKind::PpReceive, 0, 7, 10),
        spanOf(SpanKind::LinearForward, 10, 10, 30),           spanOf(SpanKind::CpGather, 30, 45, 50),
        spanOf(SpanKind::AttentionForward, 50, 50, 60),        spanOf(SpanKind::DpReduce, 60, 80, 90),
    };
    RankBreakdown breakdown = breakdownOf(rank, 0, 100);
    constexpr double kNs = 1e-9;
    EXPECT_DOUBLE_EQ(secondsOf(breakdown, SpanKind::LinearForward), 20 * kNs);
    EXPECT_DOUBLE_EQ(secondsOf(breakdown, SpanKind::AttentionForward), 10 * kNs);
    EXPECT_DOUBLE_EQ(secondsOf(breakdown, SpanKind::CpGather), 5 * kNs) << "transfer alone";
    EXPECT_DOUBLE_EQ(secondsOf(breakdown, SpanKind::DpReduce), 10 * kNs);
    EXPECT_DOUBLE_EQ(secondsOf(breakdown, SpanKind::Forward), 0) << "the pass encloses its parts";
    EXPECT_DOUBLE_EQ(breakdown.waitingSeconds, 35 * kNs);
    EXPECT_DOUBLE_EQ(breakdown.pipelineIdleSeconds, 17 * kNs) << "7 before the send, 10 at the step's end";
    EXPECT_DOUBLE_EQ(breakdown.computeSeconds(), 30 * kNs);
    EXPECT_DOUBLE_EQ(breakdown.transferSeconds(), 18 * kNs);
    EXPECT_DOUBLE_EQ(breakdown.totalSeconds(), 100 * kNs);
}

TEST(Breakdown, PassesCountThemselvesWhereNoLayersAreKept) {
    RankSpans rank;
    rank.spans = {spanOf(SpanKind::Forward, 0, 0, 40, Lane::Pipeline),
                  spanOf(SpanKind::Backward, 50, 50, 90, Lane::Pipeline),
                  spanOf(SpanKind::PpReceive, 40, 44, 50), spanOf(SpanKind::Optimizer, 90, 90, 95)};
    RankBreakdown breakdown = breakdownOf(rank, 0, 100);
    EXPECT_DOUBLE_EQ(breakdown.computeSeconds(), 85e-9);
    EXPECT_DOUBLE_EQ(breakdown.pipelineIdleSeconds, 9e-9);
    EXPECT_DOUBLE_EQ(breakdown.totalSeconds(), 100e-9);
    std::vector<Span> all = activities(rank);
    ASSERT_EQ(all.size(), 4u);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LE(all[i - 1].end, all[i].begin);
}

TEST(Breakdown, CutsSpansAtTheBordersOfTheStep) {
    RankSpans rank;
    rank.spans = {spanOf(SpanKind::LinearForward, -50, -50, 10), spanOf(SpanKind::DpReduce, 90, 95, 200)};
    RankBreakdown breakdown = breakdownOf(rank, 0, 100);
    EXPECT_DOUBLE_EQ(breakdown.computeSeconds(), 10e-9);
    EXPECT_DOUBLE_EQ(breakdown.transferSeconds(), 5e-9);
    EXPECT_DOUBLE_EQ(breakdown.totalSeconds(), 100e-9);
}

TEST(Breakdown, ARankThatDeliveredNothingIsAllIdle) {
    EXPECT_DOUBLE_EQ(breakdownOf({}, 5, 25).pipelineIdleSeconds, 20e-9);
    EXPECT_TRUE(laneSpans({}, Lane::Compute).empty());
}

TEST(Breakdown, AddsAndScales) {
    RankBreakdown one;
    one.addKind(SpanKind::Loss, 2);
    one.addWaiting(SpanKind::CpGather, 3);
    one.pipelineIdleSeconds = 1;
    RankBreakdown sum = one;
    sum += one;
    sum *= 0.5;
    EXPECT_DOUBLE_EQ(sum.totalSeconds(), one.totalSeconds());
    EXPECT_DOUBLE_EQ(sum.waitingByKindSeconds[static_cast<std::size_t>(SpanKind::CpGather)], 3);
}

}  // namespace
}  // namespace ballast
