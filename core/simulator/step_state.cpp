// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/step_state.h"

#include <algorithm>

namespace ballast {

void RankTally::repeatSince(const RankTally& before, std::int64_t times) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        kinds[kind] += times * (kinds[kind] - before.kinds[kind]);
        waiting[kind] += times * (waiting[kind] - before.waiting[kind]);
    }
    pipelineIdle += times * (pipelineIdle - before.pipelineIdle);
}

RankBreakdown RankTally::breakdown() const {
    RankBreakdown breakdown;
    for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
        breakdown.addKind(static_cast<SpanKind>(kind), toSeconds(kinds[kind]).value());
        breakdown.addWaiting(static_cast<SpanKind>(kind), toSeconds(waiting[kind]).value());
    }
    breakdown.pipelineIdleSeconds = toSeconds(pipelineIdle).value();
    return breakdown;
}

StepState::StepState(std::vector<int> rankOf, Nanoseconds begin)
    : rankOf_(std::move(rankOf)),
      clocks_(rankOf_.size(), begin),
      tallies_(rankOf_.size()),
      passes_(rankOf_.size()),
      operations_(rankOf_.size()) {}

int StepState::latest(std::span<const int> members) const {
    return *std::max_element(members.begin(), members.end(),
                             [&](int a, int b) { return clock(a) < clock(b); });
}

void StepState::compute(int cell, Nanoseconds duration, Span span, bool record) {
    if (duration == 0)
        return;
    Nanoseconds& clock = clocks_[index(cell)];
    span.begin = span.waitingUntil = clock;
    clock += duration;
    span.end = clock;
    tallies_[index(cell)].kinds[static_cast<std::size_t>(span.kind)] += duration;
    if (record)
        operations_[index(cell)].push_back(span);
}

void StepState::collective(std::span<const int> members, Nanoseconds transfer, const TransferNote& note) {
    int last = latest(members);
    Nanoseconds start = clock(last);
    auto kind = static_cast<std::size_t>(note.kind);
    for (int cell : members) {
        Nanoseconds& clock = clocks_[index(cell)];
        Nanoseconds begin = clock;
        clock = start + transfer;
        tallies_[index(cell)].waiting[kind] += start - begin;
        tallies_[index(cell)].kinds[kind] += transfer;
        if (!note.record || clock == begin)
            continue;
        bool waited = start > begin;
        operations_[index(cell)].push_back({.begin = begin,
                                            .end = clock,
                                            .waitingUntil = start,
                                            .tokens = note.tokens,
                                            .bytes = note.bytes,
                                            .document = waited ? note.document : -1,
                                            .microBatch = note.microBatch,
                                            .layer = note.layer,
                                            .blamedRank = waited ? rankOf_[index(last)] : -1,
                                            .kind = note.kind,
                                            .lane = Lane::Compute,
                                            .modelled = 1});
    }
}

void StepState::receive(int cell, int sender, Nanoseconds sentAt, Nanoseconds transfer,
                        const TransferNote& note) {
    Nanoseconds& clock = clocks_[index(cell)];
    Nanoseconds begin = clock;
    Nanoseconds end = sentAt + transfer;
    if (end <= begin)
        return;
    Nanoseconds ready = std::max(begin, sentAt);
    clock = end;
    tallies_[index(cell)].pipelineIdle += ready - begin;
    tallies_[index(cell)].kinds[static_cast<std::size_t>(note.kind)] += end - ready;
    if (!note.record)
        return;
    bool waited = ready > begin;
    operations_[index(cell)].push_back({.begin = begin,
                                        .end = end,
                                        .waitingUntil = ready,
                                        .tokens = note.tokens,
                                        .bytes = note.bytes,
                                        .document = waited ? note.document : -1,
                                        .microBatch = note.microBatch,
                                        .layer = note.layer,
                                        .blamedRank = waited ? rankOf_[index(sender)] : -1,
                                        .kind = note.kind,
                                        .lane = Lane::Compute,
                                        .modelled = 1});
}

std::vector<Span> StepState::takeSpans(int cell) {
    std::vector<Span> spans = std::move(passes_[index(cell)]);
    spans.insert(spans.end(), operations_[index(cell)].begin(), operations_[index(cell)].end());
    operations_[index(cell)].clear();
    return spans;
}

}  // namespace ballast
