// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/cost/memory_cost.h"
#include "tests/core/simulator/given_work.h"
#include "tests/core/simulator/pipeline_twin.h"

namespace ballast {
namespace {

using testing::attentionOnly;
using testing::costOf;
using testing::randomWork;
using testing::workOf;

constexpr double kMs = 1e-3;
constexpr Nanoseconds kMsNs = 1'000'000;

Nanoseconds optimizerOf(const CostModel& cost, int pp) {
    return toNanoseconds(cost.optimizer(stageParameters(cost, pp, 0)));
}

/// Compute lane spans of one kind on a rank, in order.
std::vector<Span> spansOf(const SimulatedStep& step, int rank, SpanKind kind) {
    std::vector<Span> spans;
    for (const Span& span : step.timeline.ranks[static_cast<std::size_t>(rank)].spans)
        if (span.kind == kind)
            spans.push_back(span);
    return spans;
}

/// End of the last pass of a rank.
Nanoseconds lastPassEnd(const SimulatedStep& step, int rank) {
    Nanoseconds end = 0;
    for (const Span& span : laneSpans(step.timeline.ranks[static_cast<std::size_t>(rank)], Lane::Pipeline))
        end = std::max(end, span.end);
    return end;
}

TEST(Simulator, EqualMicroBatchesIdleForTheClosedFormOf1F1B) {
    // (p - 1)(F + B) idle on every stage: Narayanan et al., SC 2021, section 2.2.1.
    for (int stages : {1, 2, 4})
        for (int count : {1, 2, 4, 7}) {
            CostModel cost = costOf({.layout = {1, 1, 1, stages}, .layers = 2 * stages});
            std::vector<MicroBatchWork> pipeline;
            for (int i = 0; i < count; ++i)
                pipeline.push_back(attentionOnly(i, {3 * kMs}, {7 * kMs}));
            StepWork work = workOf({pipeline});
            work.freeTransfers = true;
            SimulatedStep step = simulateStep(work, cost);
            Nanoseconds both = 2 * 10 * kMsNs;
            Nanoseconds slowest = 0;
            for (int pp = 0; pp < stages; ++pp)
                slowest = std::max(slowest, optimizerOf(cost, pp));
            EXPECT_EQ(step.timeline.end, (count + stages - 1) * both + slowest);
            for (int pp = 0; pp < stages; ++pp) {
                const RankBreakdown& rank = step.ranks[static_cast<std::size_t>(pp)];
                double idle =
                    static_cast<double>((stages - 1) * both + slowest - optimizerOf(cost, pp)) * 1e-9;
                EXPECT_NEAR(rank.pipelineIdleSeconds + rank.waitingSeconds, idle, 1e-12);
            }
        }
}

TEST(Simulator, BubbleOfEqualMicroBatchesIsTheClosedFormAndAllOfIt) {
    CostModel cost = costOf({.layout = {1, 1, 1, 4}, .layers = 4});
    std::vector<MicroBatchWork> pipeline;
    for (int i = 0; i < 8; ++i)
        pipeline.push_back(attentionOnly(i, {100 * kMs}, {200 * kMs}));
    StepWork work = workOf({pipeline});
    work.freeTransfers = true;
    SimulatedStep step = simulateStep(work, cost);
    // Field case D39: the share (p - 1) / (m + p - 1); the optimizer is a millionth of it.
    EXPECT_NEAR(step.bubble, 3.0 / 11.0, 1e-4);
    EXPECT_DOUBLE_EQ(step.bubbleSchedule, step.bubble);
}

TEST(Simulator, UnequalMicroBatchesPassThroughLikeTheirPlainTwin) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        int stages = 1 + static_cast<int>(random.below(5));
        int count = 1 + static_cast<int>(random.below(9));
        std::vector<std::int64_t> layers;
        for (int pp = 0; pp < stages; ++pp)
            layers.push_back(1 + static_cast<std::int64_t>(random.below(3)));
        CostModel cost = costOf({.layout = {1, 1, 1, stages},
                                 .layers = std::accumulate(layers.begin(), layers.end(), std::int64_t{0}),
                                 .stages = layers});
        testing::PlainPipeline plain;
        plain.forward.resize(layers.size());
        plain.backward.resize(layers.size());
        plain.message = stages > 1 ? toNanoseconds(cost.pointToPoint(Bytes(0), 0, 1)) : 0;
        std::vector<MicroBatchWork> pipeline;
        for (int i = 0; i < count; ++i) {
            auto forward = static_cast<Nanoseconds>(random.below(40'000));
            auto backward = static_cast<Nanoseconds>(random.below(90'000));
            pipeline.push_back(attentionOnly(i, {static_cast<double>(forward) * 1e-9},
                                             {static_cast<double>(backward) * 1e-9}));
            for (std::size_t pp = 0; pp < layers.size(); ++pp) {
                plain.forward[pp].push_back(layers[pp] * forward);
                plain.backward[pp].push_back(layers[pp] * backward);
            }
        }
        SimulatedStep step = simulateStep(workOf({pipeline}), cost);
        std::vector<Nanoseconds> ends = testing::plain1F1B(plain);
        for (int pp = 0; pp < stages; ++pp)
            if (plain.backward[static_cast<std::size_t>(pp)].back() > 0) {
                ASSERT_EQ(lastPassEnd(step, pp), ends[static_cast<std::size_t>(pp)]) << "round " << round;
            }
    }
}

TEST(Simulator, StepTimeLiesWithinListSchedulingBounds) {
    CostModel cost = costOf({.layout = {1, 1, 1, 4}, .layers = 4});
    Random random(9);
    for (int round = 0; round < 50; ++round) {
        std::vector<MicroBatchWork> pipeline;
        Nanoseconds sum = 0;
        Nanoseconds most = 0;
        for (int i = 0; i < 6; ++i) {
            auto work = static_cast<Nanoseconds>(1 + random.below(1000)) * 1000;
            pipeline.push_back(
                attentionOnly(i, {static_cast<double>(work) * 1e-9}, {static_cast<double>(work) * 2e-9}));
            sum += 3 * work;
            most = std::max(most, 3 * work);
        }
        StepWork step = workOf({pipeline});
        step.freeTransfers = true;
        Nanoseconds end = lastPassEnd(simulateStep(step, cost), 0);
        EXPECT_GE(end, sum) << "a stage does all micro-batches";
        EXPECT_GE(end, 4 * most) << "a micro-batch passes all stages";
        EXPECT_LE(end, sum + 3 * most * 2) << "fill and drain of at most the heaviest";
    }
}

TEST(Simulator, AReceiveWaitsForTheSendThenTransfersAndNamesTheSender) {
    CostModel cost = costOf({.layout = {1, 1, 1, 2}, .layers = 2});
    SimulatedStep step = simulateStep(workOf({{attentionOnly(0, {2 * kMs}, {5 * kMs}, 0, 42)}}), cost);
    Nanoseconds message = toNanoseconds(cost.pointToPoint(Bytes(0), 0, 1));
    ASSERT_GT(message, 0);

    std::vector<Span> activation = spansOf(step, 1, SpanKind::PpReceive);
    ASSERT_EQ(activation.size(), 1u);
    EXPECT_EQ(activation[0].begin, 0);
    EXPECT_EQ(activation[0].waitingUntil, 2 * kMsNs);
    EXPECT_EQ(activation[0].end, 2 * kMsNs + message);
    EXPECT_EQ(activation[0].blamedRank, 0);
    EXPECT_EQ(activation[0].document, 42);
    EXPECT_EQ(activation[0].modelled, 1);

    std::vector<Span> gradient = spansOf(step, 0, SpanKind::PpReceive);
    ASSERT_EQ(gradient.size(), 1u);
    EXPECT_EQ(gradient[0].begin, 2 * kMsNs);
    EXPECT_EQ(gradient[0].waitingUntil, 9 * kMsNs + message);
    EXPECT_EQ(gradient[0].end, 9 * kMsNs + 2 * message);
    EXPECT_EQ(lastPassEnd(step, 0), 14 * kMsNs + 2 * message);
    EXPECT_TRUE(spansOf(step, 0, SpanKind::PpSend).empty()) << "a send costs the sender nothing";
}

TEST(Simulator, AMessageThatIsThereHasNoSpanAndOneUnderWayNoWaiting) {
    CostModel cost = costOf({.layout = {1, 1, 1, 2}, .layers = 2});
    Nanoseconds message = toNanoseconds(cost.pointToPoint(Bytes(0), 0, 1));
    // Stage 1 is busy with micro-batch 0 while micro-batch 1 arrives.
    SimulatedStep there = simulateStep(
        workOf({{attentionOnly(0, {2 * kMs}, {1 * kMs}), attentionOnly(1, {2 * kMs}, {1 * kMs})}}), cost);
    EXPECT_EQ(spansOf(there, 1, SpanKind::PpReceive).size(), 1u);
    // Micro-batch 1 is sent 2 us after micro-batch 0's pass on stage 1 began to be over, still under way.
    Nanoseconds later = 2000;
    ASSERT_LT(later, message);
    SimulatedStep underWay = simulateStep(
        workOf({{attentionOnly(0, {2 * kMs}, {0}), attentionOnly(1, {2 * kMs + 2e-6}, {0})}}), cost);
    std::vector<Span> receives = spansOf(underWay, 1, SpanKind::PpReceive);
    ASSERT_EQ(receives.size(), 2u);
    EXPECT_EQ(receives[1].begin, 4 * kMsNs + message);
    EXPECT_EQ(receives[1].waiting(), 0);
    EXPECT_EQ(receives[1].transfer(), later);
    EXPECT_EQ(receives[1].blamedRank, -1);
    EXPECT_EQ(receives[1].document, -1);
}

TEST(Simulator, CollectivesStartAtTheLatestMemberAndTheOthersWaitForIt) {
    CostModel cost = costOf({.layout = {1, 2, 1, 1}, .layers = 3});
    constexpr std::int64_t kGathered = 5000;
    SimulatedStep step = simulateStep(
        workOf({{attentionOnly(0, {6 * kMs, 4 * kMs}, {9 * kMs, 5 * kMs}, kGathered, 7)}}), cost);
    std::vector<LayerOperation> operations = layerOperations(cost, Direction::Backward, 0, kGathered);
    Bytes bytes = operations[2].call.bytes;
    std::vector<int> group = {0, 1};
    Nanoseconds gather = toNanoseconds(cost.collective(CollectiveOperation::AllGather, bytes, group));
    Nanoseconds scatter = toNanoseconds(cost.collective(CollectiveOperation::ReduceScatter, bytes, group));
    ASSERT_GT(gather, 0);

    std::vector<Span> light = spansOf(step, 1, SpanKind::CpGather);
    std::vector<Span> heavy = spansOf(step, 0, SpanKind::CpGather);
    ASSERT_EQ(light.size(), 6u) << "three layers forward, three backward";
    EXPECT_EQ(light[0].waiting(), 0);
    EXPECT_EQ(light[0].end, gather);
    // Second layer: both start when the heavy rank is through, at gather + 6 ms.
    EXPECT_EQ(light[1].begin, gather + 4 * kMsNs);
    EXPECT_EQ(light[1].waitingUntil, gather + 6 * kMsNs);
    EXPECT_EQ(light[1].end, 2 * gather + 6 * kMsNs);
    EXPECT_EQ(light[1].blamedRank, 0);
    EXPECT_EQ(light[1].document, 7);
    EXPECT_EQ(heavy[1].begin, gather + 6 * kMsNs);
    EXPECT_EQ(heavy[1].waiting(), 0);
    EXPECT_EQ(heavy[1].blamedRank, -1);
    for (std::size_t i = 0; i < light.size(); ++i)
        EXPECT_EQ(light[i].transfer(), heavy[i].transfer()) << "the transfer is for all";
    Nanoseconds pass = 3 * (gather + 6 * kMsNs) + 3 * (gather + 9 * kMsNs + scatter);
    EXPECT_EQ(lastPassEnd(step, 0), pass);
    EXPECT_EQ(lastPassEnd(step, 1), pass);
    EXPECT_NEAR(step.ranks[1].waitingSeconds, 3 * 2 * kMs + 3 * 4 * kMs, 1e-12);
    EXPECT_DOUBLE_EQ(step.ranks[0].waitingSeconds, 0);
}

TEST(Simulator, NeedBasedExchangeTakesThePairwiseTimeThreeTimesALayer) {
    CostModel cost = costOf({.layout = {1, 2, 1, 1}, .layers = 3});
    MicroBatchWork work = attentionOnly(0, {4 * kMs, 4 * kMs}, {5 * kMs, 5 * kMs}, 5000, 7);
    work.exchangedBytes = {0, 3'000'000, 1'000'000, 0};
    SimulatedStep step = simulateStep(workOf({{work}}), cost);
    std::vector<int> group = {0, 1};
    Nanoseconds exchange = toNanoseconds(cost.pointToPoint(Bytes(3'000'000), 0, 1));
    EXPECT_EQ(exchange, toNanoseconds(pairwiseExchangeSeconds(cost.cluster(), group, work.exchangedBytes)));
    for (SpanKind kind : {SpanKind::CpGather, SpanKind::CpScatter})
        for (const Span& span : spansOf(step, 1, kind)) {
            EXPECT_EQ(span.transfer(), exchange);
            EXPECT_EQ(span.bytes, 4'000'000) << "of the group, as of a collective";
        }
    EXPECT_EQ(spansOf(step, 1, SpanKind::CpGather).size(), 6u);
    EXPECT_EQ(spansOf(step, 1, SpanKind::CpScatter).size(), 3u);
}

TEST(Simulator, GradientsAreSummedWhenTheLatestReplicaIsThrough) {
    CostModel cost = costOf({.layout = {1, 1, 2, 1}});
    StepWork work = workOf(
        {{attentionOnly(0, {1 * kMs}, {1 * kMs}, 0, 3)},
         {attentionOnly(0, {2 * kMs}, {5 * kMs}, 0, 11), attentionOnly(1, {1 * kMs}, {1 * kMs}, 0, 12)}});
    work.pipelines[1][0].attentionPairs = {100};
    SimulatedStep step = simulateStep(work, cost);
    Span sum = spansOf(step, 0, SpanKind::DpReduce).front();
    EXPECT_EQ(sum.begin, 4 * 2 * kMsNs);
    EXPECT_EQ(sum.waitingUntil, 4 * 9 * kMsNs);
    EXPECT_EQ(sum.blamedRank, 1);
    EXPECT_EQ(sum.document, 11) << "of the late replica's heaviest micro-batch";
    EXPECT_EQ(sum.bytes, stageParameters(cost, 0, 0) * 4);
    EXPECT_EQ(spansOf(step, 1, SpanKind::DpReduce).front().waiting(), 0);
    EXPECT_EQ(spansOf(step, 1, SpanKind::DpReduce).size(), 3u) << "gradients, norm, loss";
}

TEST(Simulator, ReplicasMayRunNoneOrFewerMicroBatchesAndStillJoinTheReductions) {
    CostModel cost = costOf({.layout = {1, 1, 3, 2}, .layers = 2});
    StepWork work = workOf({{attentionOnly(0, {1 * kMs}, {2 * kMs}), attentionOnly(1, {1 * kMs}, {2 * kMs}),
                             attentionOnly(2, {1 * kMs}, {2 * kMs})},
                            {},
                            {attentionOnly(1, {1 * kMs}, {2 * kMs})}});
    SimulatedStep step = simulateStep(work, cost);
    int idleRank = cost.layout().rankOf({0, 0, 1, 1});
    EXPECT_EQ(spansOf(step, idleRank, SpanKind::DpReduce).size(), 3u);
    EXPECT_EQ(spansOf(step, idleRank, SpanKind::Forward).size(), 0u);
    EXPECT_EQ(spansOf(step, cost.layout().rankOf({0, 0, 2, 0}), SpanKind::Forward).size(), 1u);
    EXPECT_EQ(spansOf(step, 0, SpanKind::Forward).size(), 3u);
    for (const RankBreakdown& rank : step.ranks)
        EXPECT_NEAR(rank.totalSeconds(), step.stepTime.value(), 1e-12);
}

TEST(Simulator, AStepWithoutMicroBatchesIsReductionsAndOptimizer) {
    CostModel cost = costOf({.layout = {1, 2, 2, 2}});
    SimulatedStep step = simulateStep(workOf({{}, {}}), cost);
    EXPECT_GT(step.stepTime.value(), 0);
    EXPECT_EQ(step.tokens, 0);
    EXPECT_EQ(step.modelFlops, 0);
    for (const RankSpans& rank : step.timeline.ranks)
        for (const Span& span : rank.spans)
            EXPECT_TRUE(span.kind == SpanKind::DpReduce || span.kind == SpanKind::Optimizer);
}

TEST(Simulator, ASlowRankTakesLongerByItsSpeedAndIsBlamed) {
    CostModel cost = costOf({.layout = {1, 2, 1, 1}, .layers = 2, .gpuSpeed = {1, 0.5}});
    SimulatedStep step =
        simulateStep(workOf({{attentionOnly(0, {3 * kMs, 3 * kMs}, {4 * kMs, 4 * kMs})}}), cost);
    EXPECT_NEAR(step.ranks[1].kindSeconds[static_cast<std::size_t>(SpanKind::AttentionForward)], 2 * 6 * kMs,
                1e-12);
    EXPECT_NEAR(step.ranks[0].kindSeconds[static_cast<std::size_t>(SpanKind::AttentionForward)], 2 * 3 * kMs,
                1e-12);
    for (const Span& span : spansOf(step, 0, SpanKind::CpScatter))
        EXPECT_EQ(span.blamedRank, 1);
}

TEST(Simulator, ASlowTensorRankHoldsUpItsGroupAndOnlyThen) {
    CostModel equal = costOf({.layout = {2, 2, 1, 2}});
    CostModel slow = costOf({.layout = {2, 2, 1, 2}, .gpuSpeed = {1, 0.5, 1, 1, 1, 1, 1, 1}});
    StepWork work = randomWork(5, equal, 3, false);
    SimulatedStep before = simulateStep(work, equal);
    SimulatedStep after = simulateStep(work, slow);
    auto waiting = [](const SimulatedStep& step, int rank) {
        return step.ranks[static_cast<std::size_t>(rank)]
            .waitingByKindSeconds[static_cast<std::size_t>(SpanKind::TpCollective)];
    };
    for (int rank = 0; rank < 8; ++rank)
        EXPECT_EQ(waiting(before, rank), 0) << "tp ranks behave alike";
    EXPECT_GT(waiting(after, 0), 0);
    EXPECT_EQ(waiting(after, 1), 0);
    EXPECT_GT(after.stepTime, before.stepTime);
    for (const Span& span : spansOf(after, 0, SpanKind::TpCollective))
        EXPECT_TRUE(span.waiting() == 0 || span.blamedRank == 1);
}

TEST(Simulator, TensorRanksShareOneRecordAndBlameInTheirOwnLane) {
    CostModel cost = costOf({.layout = {2, 2, 1, 1}, .layers = 2});
    SimulatedStep step =
        simulateStep(workOf({{attentionOnly(0, {3 * kMs, 1 * kMs}, {4 * kMs, 2 * kMs})}}), cost);
    ASSERT_EQ(step.timeline.ranks.size(), 4u);
    for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(step.timeline.ranks[static_cast<std::size_t>(rank)].rank, rank);
    std::vector<Span> even = spansOf(step, 2, SpanKind::CpScatter);
    std::vector<Span> odd = spansOf(step, 3, SpanKind::CpScatter);
    ASSERT_EQ(even.size(), odd.size());
    for (std::size_t i = 0; i < even.size(); ++i) {
        EXPECT_EQ(even[i].blamedRank, 0);
        EXPECT_EQ(odd[i].blamedRank, 1);
        EXPECT_EQ(even[i].begin, odd[i].begin);
    }
}

TEST(Simulator, PeakMemoryIsTheStageMemoryOfTheMicroBatchesInFlight) {
    CostModel cost = costOf({.layout = {1, 2, 1, 2}});
    std::vector<MicroBatchWork> pipeline = {
        attentionOnly(0, {0, 0}, {0, 0}), attentionOnly(1, {0, 0}, {0, 0}), attentionOnly(2, {0, 0}, {0, 0})};
    pipeline[0].rankTokens = {10, 10};
    pipeline[1].rankTokens = {900, 1000};
    pipeline[2].rankTokens = {50, 60};
    for (MicroBatchWork& batch : pipeline)
        batch.tokens = batch.rankTokens[0] + batch.rankTokens[1];
    StepWork work = workOf({pipeline});
    PeakMemory peak = stepPeakMemory(work, cost);
    // Stage 0 holds two micro-batches: 1 and 2; stage 1 one: 1. All of cp rank 1.
    double stage0 = static_cast<double>(stageMemory(cost, 0, 1060, 1000, 1900).total().value());
    double stage1 = static_cast<double>(stageMemory(cost, 1, 1000, 1000, 1900).total().value());
    EXPECT_DOUBLE_EQ(peak.gib, std::max(stage0, stage1) / (1 << 30));
    EXPECT_EQ(peak.stage, stage0 > stage1 ? 0 : 1);
    EXPECT_EQ(peak.rank, cost.layout().rankOf({0, 1, 0, peak.stage}));
    EXPECT_EQ(peak.microBatch, peak.stage == 0 ? 2 : 1);
    EXPECT_DOUBLE_EQ(peak.limitGib, cost.cluster().memoryGiB);
}

TEST(Simulator, ModelFlopsAreThoseOfThePlannersPage) {
    CostModel cost = costOf({.layout = {1, 2, 1, 2}});
    StepWork work = randomWork(4, cost, 2, false);
    double pairs = 0;
    double tokens = 0;
    for (const auto& pipeline : work.pipelines)
        for (const MicroBatchWork& batch : pipeline) {
            pairs = std::accumulate(batch.attentionPairs.begin(), batch.attentionPairs.end(), pairs);
            tokens += static_cast<double>(batch.tokens);
        }
    // Tiny model: 4 layers of (64*(4+2*2)*16 + 4*16*64 + 3*64*128) and a head of 64*256 parameters.
    double parameters = 4 * (64 * 8 * 16 + 4 * 16 * 64 + 3 * 64 * 128) + 64 * 256;
    EXPECT_DOUBLE_EQ(simulateStep(work, cost).modelFlops, 6 * parameters * tokens + 12 * 4 * 16 * 4 * pairs);
}

}  // namespace
}  // namespace ballast
