// SPDX-License-Identifier: Apache-2.0
// What the trainer records about itself, on the virtual clock unless a test says otherwise.
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/trainer/micro_batch_input.h"
#include "core/schedule/step_collectives.h"
#include "core/sharding/key_value_exchange.h"
#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

std::vector<Span> laneOf(const std::vector<Span>& spans, Lane lane) {
    std::vector<Span> chosen;
    std::ranges::copy_if(spans, std::back_inserter(chosen), [&](const Span& s) { return s.lane == lane; });
    return chosen;
}

void expectOrderlyLanes(const TrainingResult& trained) {
    for (std::size_t step = 0; step < trained.spans.size(); ++step) {
        const StepReport& report = trained.reports[step];
        for (const auto& spans : trained.spans[step])
            for (Lane lane : {Lane::Pipeline, Lane::Compute, Lane::Communication, Lane::Host}) {
                Nanoseconds end = report.begin;
                for (const Span& span : laneOf(spans, lane)) {
                    EXPECT_GE(span.begin, end) << spanKindName(span.kind);
                    EXPECT_LE(span.begin, span.waitingUntil);
                    EXPECT_LE(span.waitingUntil, span.end);
                    end = span.end;
                }
                EXPECT_LE(end, report.end);
            }
    }
}

TEST(Profile, SpansOfALaneNeverOverlapAndStayInsideTheirStep) {
    TrainingCase trainingCase = smallCase({2, 2, 1, 2}, 2);
    expectOrderlyLanes(train(trainingCase));
    trainingCase.clock = Clock::Wall;
    trainingCase.layout = {1, 2, 1, 2};
    expectOrderlyLanes(train(trainingCase));
}

TEST(Profile, VirtualComputeSpansTouchEachOtherSoThatOnlyWorkAndTransfersTakeTime) {
    const TrainingResult trained = train(smallCase({1, 2, 2, 2}));
    for (const auto& spans : trained.spans[0]) {
        Nanoseconds end = 0;
        for (const Span& span : laneOf(spans, Lane::Compute)) {
            EXPECT_EQ(span.begin, end) << spanKindName(span.kind);
            end = span.end;
        }
    }
}

TEST(Profile, BlockingCollectiveEndsAtTheLatestArrivalPlusTheModelledTransferForAllMembers) {
    const TrainingCase trainingCase = smallCase({1, 2, 1, 1});
    const TrainingResult trained = train(trainingCase);
    const CostModel cost = costOf(trainingCase);
    std::vector<std::vector<Span>> gathers;
    for (const auto& spans : trained.spans[0]) {
        auto& mine = gathers.emplace_back();
        std::ranges::copy_if(spans, std::back_inserter(mine),
                             [](const Span& s) { return s.kind == SpanKind::CpGather; });
    }
    // Four micro-batches through four layers, forward and again in backward.
    ASSERT_EQ(gathers[0].size(), 4U * 4 * 2);
    ASSERT_EQ(gathers[1].size(), gathers[0].size());
    for (std::size_t i = 0; i < gathers[0].size(); ++i) {
        const Span& a = gathers[0][i];
        const Span& b = gathers[1][i];
        const std::vector<int> members{0, 1};
        const Seconds transfer = cost.collective(CollectiveOperation::AllGather, Bytes(a.bytes), members);
        EXPECT_EQ(a.waitingUntil, std::max(a.begin, b.begin));
        EXPECT_EQ(b.waitingUntil, a.waitingUntil);
        EXPECT_EQ(a.end, a.waitingUntil + toNanoseconds(transfer));
        EXPECT_EQ(b.end, a.end);
        EXPECT_EQ(a.modelled, 1);
        if (a.waiting() > 0) {
            EXPECT_EQ(a.blamedRank, 1);
            EXPECT_EQ(b.waiting(), 0);
        }
    }
}

TEST(Profile, NeedBasedExchangeRecordsTheBytesOfThePlanAndThePairwiseTime) {
    for (const char* sharding : {"per-document", "contiguous"}) {
        TrainingCase trainingCase = smallCase({1, 4, 1, 1});
        trainingCase.sharding = sharding;
        trainingCase.exchange = "need-based";
        const TrainingResult trained = train(trainingCase);
        const CostModel cost = costOf(trainingCase);
        const PlanStep step = planOf(trainingCase, cost).front();
        const std::vector<int> group = {0, 1, 2, 3};
        for (std::size_t rank = 0; rank < group.size(); ++rank)
            for (const Span& span : laneOf(trained.spans[0][rank], Lane::Compute)) {
                if (span.kind != SpanKind::CpGather && span.kind != SpanKind::CpScatter)
                    continue;
                const Sharding& shards =
                    step.microBatches[static_cast<std::size_t>(span.microBatch)].sharding;
                Bytes sent;
                for (const ShardFigures& figures : shardFigures(shards, cost))
                    sent += figures.keyValueOut;
                EXPECT_EQ(Bytes(span.bytes), sent);
                EXPECT_EQ(span.transfer(),
                          toNanoseconds(neededExchangeSeconds(neededTokens(shards), cost, group)));
            }
    }
}

TEST(Profile, RowsThatTravelAreThoseThatThePlanCounts) {
    TrainingCase trainingCase = smallCase({1, 4, 1, 1});
    const CostModel cost = costOf(trainingCase);
    for (const char* sharding : {"per-sequence", "per-document", "mixed", "striped", "contiguous"}) {
        trainingCase.sharding = sharding;
        const PlanStep step = planOf(trainingCase, cost).front();
        for (const PlannedMicroBatch& planned : step.microBatches) {
            const ExchangedTokens tokens = neededTokens(planned.sharding);
            for (std::size_t rank = 0; rank < 4; ++rank) {
                const MicroBatchInput input = makeMicroBatchInput(
                    0, planned, {static_cast<int>(rank), false, false, true}, *patternTokens(96));
                for (std::size_t peer = 0; peer < 4; ++peer) {
                    std::int64_t sent = 0;
                    std::int64_t received = 0;
                    for (const RowCopy& copy : input.needed->sent[peer])
                        sent += copy.rows;
                    for (const RowCopy& copy : input.needed->received[peer])
                        received += copy.rows;
                    EXPECT_EQ(sent, tokens.sent(rank, peer)) << sharding;
                    EXPECT_EQ(received, tokens.sent(peer, rank)) << sharding;
                }
            }
        }
    }
}

TEST(Profile, CollectivesAreThoseOfTheSharedListInItsOrder) {
    const TrainingCase trainingCase = smallCase({2, 2, 1, 1});
    const TrainingResult trained = train(trainingCase);
    const CostModel cost = costOf(trainingCase);
    const auto forward = layerOperations(cost, Direction::Forward, 1, 2);
    std::vector<SpanKind> expected;
    for (const LayerOperation& operation : forward)
        if (operation.isCollective)
            expected.push_back(spanKindOf(operation.call.purpose));
    std::vector<SpanKind> found;
    for (const Span& span : laneOf(trained.spans[0][3], Lane::Compute))
        if (span.microBatch == 0 && span.layer == 2 && isCommunication(span.kind) &&
            found.size() < expected.size())
            found.push_back(span.kind);
    EXPECT_EQ(found, expected);
}

// traceopt-ai/traceml issue 252: the collective made every rank's backward equally long, the slow rank
// stayed invisible.
TEST(Profile, BurntProcessorTimeIsThatRanksComputeAndItsPeersWaiting) {
    TrainingCase trainingCase = smallCase({1, 2, 1, 1}, 2);
    const TrainingResult before = train(trainingCase);
    trainingCase.delay = PlantedDelay{1, 1, 200};
    const TrainingResult after = train(trainingCase);
    auto compute = [](const TrainingResult& result, std::size_t rank) {
        double seconds = 0;
        for (const Span& span : laneOf(result.spans[1][rank], Lane::Compute))
            if (isCompute(span.kind))
                seconds += toSeconds(span.duration()).value();
        return seconds;
    };
    auto waitingForRank1 = [](const TrainingResult& result, std::size_t rank) {
        double seconds = 0;
        for (const Span& span : laneOf(result.spans[1][rank], Lane::Compute))
            if (span.blamedRank == 1)
                seconds += toSeconds(span.waiting()).value();
        return seconds;
    };
    EXPECT_GE(compute(after, 1) - compute(before, 1), 0.18);
    EXPECT_LE(compute(after, 1) - compute(before, 1), 0.26);
    EXPECT_NEAR(compute(after, 0) - compute(before, 0), 0.0, 0.06);
    EXPECT_GE(waitingForRank1(after, 0), 0.15);
}

TEST(Profile, ReceiveWaitsForTheSendersClockAndThenTransfers) {
    const TrainingCase trainingCase = smallCase({1, 1, 1, 2});
    const TrainingResult trained = train(trainingCase);
    const CostModel cost = costOf(trainingCase);
    const std::vector<Span>& last = trained.spans[0][1];
    const auto first = std::ranges::find(last, SpanKind::PpReceive, &Span::kind);
    ASSERT_NE(first, last.end());
    EXPECT_EQ(first->begin, 0);
    EXPECT_EQ(first->blamedRank, 0);
    // Stage 0's first forward ends where the message leaves.
    const auto pass = std::ranges::find(trained.spans[0][0], SpanKind::Forward, &Span::kind);
    EXPECT_EQ(first->waitingUntil, pass->end);
    EXPECT_EQ(first->transfer(), toNanoseconds(cost.pointToPoint(Bytes(first->bytes), 0, 1)));
}

TEST(Profile, RecordingCostsUnderAHundredthOfTheStep) {
    TrainingCase trainingCase = smallCase({1, 1, 1, 1});
    trainingCase.model.hiddenSize = 128;
    trainingCase.model.headDim = 32;
    trainingCase.model.intermediateSize = 384;
    trainingCase.steps = {{{1024}}};
    const TrainingResult trained = train(trainingCase);
    Nanoseconds compute = 0;
    for (const Span& span : laneOf(trained.spans[0][0], Lane::Compute))
        compute += span.duration();

    RankClock clock(Clock::Virtual);
    clock.start(0);
    SpanRecorder recorder(clock);
    constexpr int kScopes = 10'000;
    const Nanoseconds before = RankClock::threadCpuTime();
    for (int i = 0; i < kScopes; ++i)
        ComputeScope scope(recorder, SpanKind::Elementwise, {});
    const double oneScope = static_cast<double>(RankClock::threadCpuTime() - before) / kScopes;
    EXPECT_LT(oneScope * static_cast<double>(trained.spans[0][0].size()),
              0.01 * static_cast<double>(compute));
}

TEST(Profile, PeakBytesHoldOneFlightOfActivationsAndNoMore) {
    TrainingCase trainingCase = smallCase({1, 1, 1, 2});
    trainingCase.steps = {StepLengths(8, {64})};
    const TrainingResult eight = train(trainingCase);
    trainingCase.steps = {StepLengths(2, {64})};
    const TrainingResult two = train(trainingCase);
    const auto activations = static_cast<std::size_t>(MemoryClass::Activations);
    // 1F1B: the first of two stages has two micro-batches in flight however many there are.
    EXPECT_EQ(eight.reports[0].peakBytes[activations], two.reports[0].peakBytes[activations]);
    const auto weights = static_cast<std::size_t>(MemoryClass::Weights);
    EXPECT_GT(eight.reports[0].peakBytes[weights], 0);
    EXPECT_EQ(eight.reports[0].peakBytes[static_cast<std::size_t>(MemoryClass::Optimizer)],
              2 * eight.reports[0].peakBytes[weights]);
}

}  // namespace
}  // namespace ballast::backend::testing
