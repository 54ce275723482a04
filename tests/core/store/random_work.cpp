// SPDX-License-Identifier: Apache-2.0
#include "tests/core/store/random_work.h"

#include "tests/support/builders.h"

namespace ballast::testing {
namespace {

std::int64_t below(Random& random, std::uint64_t bound) {
    return static_cast<std::int64_t>(random.below(bound));
}

}  // namespace

Span randomSpan(Random& random, Lane lane, Nanoseconds begin) {
    Span span;
    span.begin = begin;
    span.waitingUntil = begin + below(random, 1000);
    span.end = span.waitingUntil + below(random, 1'000'000);
    span.tokens = below(random, 1 << 20);
    span.bytes = below(random, 1ULL << 40);
    span.flops = random.uniform() * 1e12;
    span.document = below(random, 1000) - 1;
    span.microBatch = static_cast<std::int32_t>(random.below(9)) - 1;
    span.layer = static_cast<std::int32_t>(random.below(33)) - 1;
    span.blamedRank = static_cast<std::int32_t>(random.below(9)) - 1;
    span.kind = static_cast<SpanKind>(1 + random.below(kSpanKindCount));
    span.lane = lane;
    span.modelled = static_cast<std::uint8_t>(random.below(2));
    return span;
}

StepTimeline randomTimeline(Random& random, std::int64_t step, int ranks) {
    StepTimeline timeline;
    timeline.step = step;
    timeline.begin = step * 1'000'000'000;
    timeline.end = timeline.begin + 1'000'000'000;
    for (int rank = 0; rank < ranks; ++rank) {
        RankSpans spans{rank, rank % 3 != 2, {}};
        for (const Lane lane : {Lane::Pipeline, Lane::Compute, Lane::Communication, Lane::Host}) {
            Nanoseconds begin = timeline.begin;
            for (std::uint64_t left = spans.recorded ? random.below(8) : 0; left > 0; --left) {
                spans.spans.push_back(randomSpan(random, lane, begin));
                begin = spans.spans.back().end;
            }
        }
        timeline.ranks.push_back(std::move(spans));
    }
    return timeline;
}

RankStepRecord randomRankStep(Random& random, std::int64_t step, int rank) {
    RankStepRecord record{step, rank, {}, {}};
    for (int kind = 1; kind <= kSpanKindCount; ++kind) {
        record.breakdown.addKind(static_cast<SpanKind>(kind), random.below(2) ? random.uniform() : 0.0);
        record.breakdown.addWaiting(static_cast<SpanKind>(kind), random.below(2) ? random.uniform() : 0.0);
    }
    record.breakdown.pipelineIdleSeconds = random.uniform();
    for (std::int64_t& bytes : record.peakBytes)
        bytes = below(random, 1ULL << 40);
    return record;
}

PlanStep randomPlanStep(Random& random, std::int64_t step, const Layout& layout, int microBatches) {
    PlanStep plan;
    plan.step = step;
    plan.kind = static_cast<StepKind>(random.below(3));
    plan.carried = {below(random, 9), below(random, 9), below(random, 9)};
    plan.packMilliseconds = random.uniform();
    for (int place = 0; place < layout.dp * microBatches; ++place) {
        PlannedMicroBatch planned;
        planned.batch.dp = place / microBatches;
        planned.batch.index = place % microBatches;
        planned.batch.work = random.uniform();
        planned.sharding.strategy = random.below(2) ? "per-sequence" : "per-document";
        planned.sharding.ranks.resize(static_cast<std::size_t>(layout.cp));
        for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
            const std::int64_t document = (step * 100 + place) * 100 + static_cast<std::int64_t>(left);
            const Piece piece{document, 0, 1 + below(random, 500), step, document};
            planned.batch.pieces.push_back(piece);
            planned.batch.tokens += piece.length();
            planned.sharding.ranks[left % static_cast<std::uint64_t>(layout.cp)].push_back(
                {document, 0, piece.end, 0, piece.end});
        }
        plan.microBatches.push_back(std::move(planned));
    }
    return plan;
}

PlanHeader tinyHeader() {
    PlanHeader header;
    header.scenario = tinyScenario();
    header.model = tinyModel();
    header.cluster = tinyCluster();
    header.chosen = {{256, 512}, 1536};
    header.sourceDescription = "made up";
    header.notices = {"a notice"};
    return header;
}

RunRecord measuredRun(const Layout& layout) {
    RunRecord run;
    run.kind = RunKind::Measured;
    run.state = RunState::Running;
    run.clock = Clock::Virtual;
    run.layout = layout;
    run.name = "wlb + adaptive";
    run.scenario = "{}";
    run.tokensAre = "synthetic";
    run.host = "here";
    run.createdAt = 1'700'000'000;
    run.plannedSteps = 12;
    run.costModelVersion = 1;
    return run;
}

}  // namespace ballast::testing
