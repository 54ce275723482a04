// SPDX-License-Identifier: Apache-2.0
// What holds for every simulated step, whatever the layout and the work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/sharding/sharder.h"
#include "core/simulator/simulator.h"
#include "tests/core/simulator/given_work.h"

namespace ballast {
namespace {

using testing::costOf;
using testing::randomWork;

std::vector<testing::JobShape> shapes() {
    std::vector<testing::JobShape> shapes;
    for (int bits = 0; bits < 16; ++bits)
        shapes.push_back(
            {.layout = {1 + (bits & 1), 1 + (bits >> 1 & 1), 1 + (bits >> 2 & 1), 1 + (bits >> 3 & 1)}});
    shapes.push_back({.layout = {1, 4, 1, 4}, .layers = 6, .tiedEmbeddings = true});
    shapes.push_back({.layout = {2, 3, 2, 3}, .layers = 7, .stages = {1, 4, 2}});
    shapes.push_back({.layout = {2, 2, 1, 2}, .gpuSpeed = {1, 0.7, 1.3, 1, 1, 1, 0.5, 1}});
    shapes.push_back({.layout = {2, 2, 32, 2}, .layers = 3});  // 256 ranks: passes alone
    return shapes;
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({1e-3, std::abs(a), std::abs(b)});
}

TEST(SimulatedTimeline, PartsOfEveryRankSumToTheStepTime) {
    for (const testing::JobShape& shape : shapes()) {
        CostModel cost = costOf(shape);
        SimulatedStep step = simulateStep(randomWork(1, cost, 3, true), cost, {}, 12345);
        EXPECT_EQ(step.timeline.begin, 12345);
        ASSERT_EQ(step.ranks.size(), static_cast<std::size_t>(shape.layout.worldSize()));
        for (const RankBreakdown& rank : step.ranks)
            EXPECT_TRUE(near(rank.totalSeconds(), step.stepTime.value()));
    }
}

TEST(SimulatedTimeline, SpansTellTheSameBreakdownAsTheSimulation) {
    for (const testing::JobShape& shape : shapes()) {
        CostModel cost = costOf(shape);
        SimulatedStep step = simulateStep(randomWork(2, cost, 3, true), cost, {}, 99);
        bool passesAlone = shape.layout.worldSize() > 128;
        for (const RankSpans& spans : step.timeline.ranks) {
            RankBreakdown drawn = breakdownOf(spans, step.timeline.begin, step.timeline.end);
            const RankBreakdown& figures = step.ranks[static_cast<std::size_t>(spans.rank)];
            EXPECT_TRUE(near(drawn.pipelineIdleSeconds, figures.pipelineIdleSeconds));
            EXPECT_TRUE(near(drawn.totalSeconds(), figures.totalSeconds()));
            if (passesAlone)
                continue;
            EXPECT_TRUE(near(drawn.waitingSeconds, figures.waitingSeconds));
            for (std::size_t kind = 1; kind < figures.kindSeconds.size(); ++kind)
                EXPECT_TRUE(near(drawn.kindSeconds[kind], figures.kindSeconds[kind])) << kind;
        }
    }
}

TEST(SimulatedTimeline, TimesAreTheSameWithAndWithoutSpans) {
    for (const testing::JobShape& shape : shapes()) {
        CostModel cost = costOf(shape);
        for (std::uint64_t seed : {3u, 4u}) {
            StepWork work = randomWork(seed, cost, 3, true, seed == 3 ? "per-sequence" : "per-document");
            SimulatedStep with = simulateStep(work, cost);
            SimulatedStep without = simulateStep(work, cost, {.recordSpans = false});
            EXPECT_EQ(with.timeline.end, without.timeline.end);
            EXPECT_TRUE(without.timeline.ranks.empty());
            EXPECT_EQ(with.bubble, without.bubble);
            for (std::size_t rank = 0; rank < with.ranks.size(); ++rank) {
                EXPECT_EQ(with.ranks[rank].kindSeconds, without.ranks[rank].kindSeconds);
                EXPECT_EQ(with.ranks[rank].waitingByKindSeconds, without.ranks[rank].waitingByKindSeconds);
                EXPECT_EQ(with.ranks[rank].pipelineIdleSeconds, without.ranks[rank].pipelineIdleSeconds);
            }
        }
    }
}

TEST(SimulatedTimeline, LanesAreSortedAndNeverOverlap) {
    for (const testing::JobShape& shape : shapes()) {
        CostModel cost = costOf(shape);
        SimulatedStep step = simulateStep(randomWork(5, cost, 4, true), cost);
        for (const RankSpans& rank : step.timeline.ranks)
            for (std::size_t i = 0; i < rank.spans.size(); ++i) {
                const Span& span = rank.spans[i];
                EXPECT_LT(span.begin, span.end);
                EXPECT_GE(span.begin, step.timeline.begin);
                EXPECT_LE(span.end, step.timeline.end);
                EXPECT_LE(span.begin, span.waitingUntil);
                EXPECT_LE(span.waitingUntil, span.end);
                EXPECT_EQ(span.waiting() > 0, span.blamedRank >= 0);
                if (i > 0) {
                    EXPECT_TRUE(rank.spans[i - 1].lane < span.lane || rank.spans[i - 1].end <= span.begin);
                }
            }
    }
}

TEST(SimulatedTimeline, EveryKernelLiesInsideThePassOfItsMicroBatch) {
    CostModel cost = costOf({.layout = {2, 2, 2, 2}});
    SimulatedStep step = simulateStep(randomWork(6, cost, 3, false), cost);
    for (const RankSpans& rank : step.timeline.ranks) {
        std::span<const Span> passes = laneSpans(rank, Lane::Pipeline);
        for (const Span& span : laneSpans(rank, Lane::Compute)) {
            auto inside = std::count_if(passes.begin(), passes.end(), [&](const Span& pass) {
                return pass.begin <= span.begin && span.end <= pass.end && pass.microBatch == span.microBatch;
            });
            bool ofAPass = span.microBatch >= 0 && span.kind != SpanKind::PpReceive;
            EXPECT_EQ(inside, ofAPass ? 1 : 0) << spanKindName(span.kind);
        }
    }
}

TEST(SimulatedTimeline, ComputeSecondsAreThoseOfTheCostModelNoneLostNoneMade) {
    for (const testing::JobShape& shape : shapes()) {
        if (!shape.gpuSpeed.empty())
            continue;
        CostModel cost = costOf(shape);
        StepWork work = randomWork(7, cost, 3, false);
        SimulatedStep step = simulateStep(work, cost, {.recordSpans = false});
        double attention = 0;
        double linear = 0;
        for (const auto& pipeline : work.pipelines)
            for (const MicroBatchWork& batch : pipeline)
                for (std::size_t cp = 0; cp < batch.rankTokens.size(); ++cp) {
                    std::int64_t tokens = batch.rankTokens[cp];
                    attention += batch.attentionForward[cp].value() + batch.attentionBackward[cp].value();
                    for (Direction direction : {Direction::Forward, Direction::Backward}) {
                        linear += static_cast<double>(shape.layers) *
                                  (cost.attentionInput(tokens, direction).linear +
                                   cost.attentionOutput(tokens, direction).linear +
                                   cost.feedForward(tokens, direction).linear)
                                      .value();
                        linear += cost.head(tokens, direction).linear.value();
                    }
                }
        auto sum = [&](std::initializer_list<SpanKind> kinds) {
            double seconds = 0;
            for (const RankBreakdown& rank : step.ranks)
                for (SpanKind kind : kinds)
                    seconds += rank.kindSeconds[static_cast<std::size_t>(kind)];
            return seconds / shape.layout.tp;
        };
        // Kernels are rounded to whole ns.
        EXPECT_NEAR(sum({SpanKind::AttentionForward, SpanKind::AttentionBackward}) /
                        (attention * static_cast<double>(shape.layers)),
                    1, 1e-3);
        EXPECT_NEAR(sum({SpanKind::LinearForward, SpanKind::LinearBackward}) / linear, 1, 1e-3);
    }
}

TEST(SimulatedTimeline, CriticalPathIsUnbrokenAndSumsToTheStepTime) {
    for (const testing::JobShape& shape : shapes()) {
        CostModel cost = costOf(shape);
        SimulatedStep step = simulateStep(randomWork(8, cost, 3, true), cost, {}, 1000);
        std::vector<CriticalSpan> path = criticalPath(step.timeline, shape.layout);
        ASSERT_FALSE(path.empty());
        EXPECT_EQ(path.front().begin, step.timeline.begin);
        EXPECT_EQ(path.back().end, step.timeline.end);
        Nanoseconds sum = 0;
        for (std::size_t i = 0; i < path.size(); ++i) {
            sum += path[i].end - path[i].begin;
            EXPECT_FALSE(path[i].idle) << "a simulation explains every moment";
            if (i > 0) {
                EXPECT_EQ(path[i].begin, path[i - 1].end);
            }
        }
        EXPECT_EQ(sum, step.timeline.end - step.timeline.begin);
    }
}

TEST(SimulatedTimeline, CriticalPathRunsThroughTheRankThatHoldsTheOthersUp) {
    CostModel cost = costOf({.layout = {1, 2, 1, 1}, .layers = 2});
    StepWork work = testing::workOf({{testing::attentionOnly(0, {0.001, 0.004}, {0.002, 0.001}, 100, 5)}});
    std::vector<CriticalSpan> path = criticalPath(simulateStep(work, cost).timeline, cost.layout());
    Nanoseconds onSlow = 0;
    for (const CriticalSpan& span : path) {
        if (span.kind == SpanKind::AttentionForward) {
            EXPECT_EQ(span.rank, 1);
            onSlow += span.end - span.begin;
        }
        if (span.kind == SpanKind::AttentionBackward) {
            EXPECT_EQ(span.rank, 0);
        }
    }
    EXPECT_EQ(onSlow, 2 * 4'000'000);
    EXPECT_TRUE(std::any_of(path.begin(), path.end(), [](const CriticalSpan& span) {
        return isCommunication(span.kind) && span.document == 5;
    }));
}

TEST(SimulatedTimeline, CriticalPathOfABrokenTimelineEndsAndSaysWhatItCannotExplain) {
    // Two ranks that blame each other, and a gap: nothing a simulation gives, but a measured file may.
    StepTimeline step;
    step.begin = 0;
    step.end = 100;
    Span wait{.begin = 40, .end = 90, .waitingUntil = 90, .kind = SpanKind::CpGather, .lane = Lane::Compute};
    step.ranks.resize(2);
    step.ranks[0].rank = 0;
    step.ranks[1].rank = 1;
    wait.blamedRank = 1;
    step.ranks[0].spans = {wait};
    wait.blamedRank = 0;
    step.ranks[1].spans = {wait};
    std::vector<CriticalSpan> path = criticalPath(step, {1, 2, 1, 1});
    Nanoseconds sum = 0;
    for (const CriticalSpan& span : path)
        sum += span.end - span.begin;
    EXPECT_EQ(sum, 100);
    EXPECT_TRUE(path.front().idle);
    wait.blamedRank = 77;
    step.ranks[0].spans = {wait};
    EXPECT_NO_FATAL_FAILURE(criticalPath(step, {1, 2, 1, 1}));
    EXPECT_TRUE(criticalPath({}, {1, 1, 1, 1}).empty());
}

TEST(SimulatedTimeline, RanksWithoutTokensAreLegalAndTakePartInEveryCollective) {
    // Field case A5 (verl-project/verl PR 4656): documents shorter than CP * TP.
    CostModel cost = costOf({.layout = {2, 8, 1, 2}});
    for (std::string_view strategy : {"per-sequence", "per-document"})
        for (std::vector<std::int64_t> lengths : {std::vector<std::int64_t>{3, 2, 4096}, {3, 2}, {1}}) {
            MicroBatch batch = testing::batchOf(0, 0, lengths);
            Sharding sharding = makeSharder(strategy, 8, cost)->shard(batch.pieces);
            StepWork work = stepWork(0, {batch}, {sharding}, cost);
            const MicroBatchWork& only = work.pipelines[0][0];
            EXPECT_EQ(std::accumulate(only.rankTokens.begin(), only.rankTokens.end(), std::int64_t{0}),
                      batch.tokens);
            EXPECT_EQ(only.heaviestDocument,
                      std::max_element(lengths.begin(), lengths.end()) - lengths.begin());
            SimulatedStep step = simulateStep(work, cost);
            EXPECT_EQ(step.tokens, batch.tokens);
            std::size_t gathers = 0;
            for (const RankSpans& rank : step.timeline.ranks) {
                auto count = static_cast<std::size_t>(
                    std::count_if(rank.spans.begin(), rank.spans.end(),
                                  [](const Span& span) { return span.kind == SpanKind::CpGather; }));
                if (rank.rank == 0)
                    gathers = count;
                EXPECT_EQ(count, gathers);
                EXPECT_TRUE(near(step.ranks[static_cast<std::size_t>(rank.rank)].totalSeconds(),
                                 step.stepTime.value()));
            }
            EXPECT_GT(gathers, 0u);
        }
}

}  // namespace
}  // namespace ballast
