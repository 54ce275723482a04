// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/store/workspace_state.h"

namespace ballast {
namespace {

constexpr std::size_t kKinds = kSpanKindCount + 1;

double at(const std::vector<double>& seconds, std::size_t kind) {
    return kind < seconds.size() ? seconds[kind] : 0;
}

/// A partial step of the same number goes; a complete one stands.
void removePartialStep(sqlite::Connection& connection, RunId run, std::int64_t step) {
    sqlite::Statement select(connection, "SELECT complete FROM steps WHERE run = ? AND step = ?");
    if (!select.bind(run, step).next())
        return;
    if (select.integer(0) != 0)
        throw Error(
            fmt::format("{}: run {} already has step {}, whole", connection.path().string(), run, step),
            ErrorCode::WorkFailed);
    for (const char* table : {"spans", "rank_step_kinds", "rank_steps", "steps"})
        sqlite::Statement(connection, fmt::format("DELETE FROM {} WHERE run = ? AND step = ?", table))
            .bind(run, step)
            .run();
}

void insertSpans(sqlite::Connection& connection, RunId run, const StepTimeline& timeline) {
    sqlite::Statement insert(
        connection,
        "INSERT INTO spans (run, step, rank, lane, sequence, kind, begin_ns, end_ns, "
        "waiting_until_ns, tokens, bytes, flops, document, micro_batch, layer, blamed_rank, "
        "modelled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const RankSpans& rank : timeline.ranks) {
        std::int64_t sequence[4] = {};
        for (const Span& span : rank.spans) {
            const auto lane = static_cast<std::size_t>(span.lane);
            insert
                .bind(run, timeline.step, rank.rank, static_cast<int>(lane), sequence[lane % 4]++,
                      static_cast<int>(span.kind), span.begin, span.end, span.waitingUntil, span.tokens,
                      span.bytes, span.flops, span.document, span.microBatch, span.layer, span.blamedRank,
                      static_cast<int>(span.modelled))
                .run();
        }
    }
}

/// What `rank_steps` says of a rank: one row for every rank that the timeline, the figures or the list of
/// missing ranks names.
struct RankRow {
    bool recorded = false;
    bool missing = false;
    const RankStepRecord* figures = nullptr;
};

void insertRankSteps(sqlite::Connection& connection, RunId run, const StepRecord& step,
                     const std::map<int, RankRow>& rows) {
    sqlite::Statement insert(
        connection,
        "INSERT INTO rank_steps (run, step, rank, recorded, missing, waiting_s, "
        "pipeline_idle_s, weights_bytes, gradients_bytes, optimizer_bytes, activations_bytes, "
        "key_values_bytes, logits_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite::Statement insertKind(connection,
                                 "INSERT INTO rank_step_kinds (run, step, rank, kind, seconds, waiting_s) "
                                 "VALUES (?, ?, ?, ?, ?, ?)");
    const std::optional<double> noSeconds;
    const std::optional<std::int64_t> noBytes;
    for (const auto& [rank, row] : rows) {
        if (!row.figures) {
            insert
                .bind(run, step.step, rank, row.recorded, row.missing, noSeconds, noSeconds, noBytes, noBytes,
                      noBytes, noBytes, noBytes, noBytes)
                .run();
            continue;
        }
        const RankBreakdown& breakdown = row.figures->breakdown;
        const std::int64_t* bytes = row.figures->peakBytes;
        insert
            .bind(run, step.step, rank, row.recorded, row.missing, breakdown.waitingSeconds,
                  breakdown.pipelineIdleSeconds, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5])
            .run();
        for (std::size_t kind = 1; kind < kKinds; ++kind) {
            const double seconds = at(breakdown.kindSeconds, kind);
            const double waiting = at(breakdown.waitingByKindSeconds, kind);
            if (seconds != 0 || waiting != 0)
                insertKind.bind(run, step.step, rank, static_cast<std::int64_t>(kind), seconds, waiting)
                    .run();
        }
    }
}

StepRecord stepRecord(const sqlite::Statement& row) {
    StepRecord step;
    step.id = row.integer(0);
    step.step = row.integer(1);
    step.complete = row.integer(2) != 0;
    step.begin = row.integer(3);
    step.end = row.integer(4);
    step.tokens = row.integer(5);
    step.targets = row.integer(6);
    step.loss = row.maybeReal(7);
    step.gradientNorm = row.maybeReal(8).value_or(std::numeric_limits<double>::quiet_NaN());
    step.learningRate = row.real(9);
    step.imbalanceDegree = row.real(10);
    return step;
}

}  // namespace

void Workspace::addStep(RunId run, const StepRecord& step, const StepTimeline& timeline,
                        const std::vector<RankStepRecord>& ranks) {
    std::map<int, RankRow> rows;
    for (const RankSpans& rank : timeline.ranks)
        rows[rank.rank].recorded = rank.recorded;
    for (const RankStepRecord& figures : ranks)
        rows[figures.rank].figures = &figures;
    for (const int rank : step.missingRanks)
        rows[rank].missing = true;

    sqlite::Connection& connection = state_->connection;
    sqlite::Transaction transaction(connection);
    removePartialStep(connection, run, step.step);
    insertRankSteps(connection, run, step, rows);
    insertSpans(connection, run, timeline);
    sqlite::Statement(
        connection,
        "INSERT INTO steps (run, step, complete, begin_ns, end_ns, tokens, targets, loss, "
        "gradient_norm, learning_rate, imbalance_degree) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(run, step.step, step.complete, step.begin, step.end, step.tokens, step.targets, step.loss,
              step.gradientNorm, step.learningRate, step.imbalanceDegree)
        .run();
    transaction.commit();
}

std::vector<StepRecord> Workspace::steps(RunId run) const {
    std::vector<StepRecord> records = stepsAfter(run, 0);
    std::ranges::sort(records, {}, &StepRecord::step);
    return records;
}

std::vector<StepRecord> Workspace::stepsAfter(RunId run, std::int64_t rowId) const {
    sqlite::Transaction snapshot(state_->connection, sqlite::Transaction::Kind::Snapshot);
    std::vector<StepRecord> records;
    sqlite::Statement select(
        state_->connection,
        "SELECT id, step, complete, begin_ns, end_ns, tokens, targets, loss, gradient_norm, "
        "learning_rate, imbalance_degree FROM steps WHERE run = ? AND id > ? ORDER BY id");
    select.bind(run, rowId);
    while (select.next())
        records.push_back(stepRecord(select));
    for (StepRecord& record : records) {
        if (record.complete)
            continue;
        sqlite::Statement missing(
            state_->connection,
            "SELECT rank FROM rank_steps WHERE run = ? AND step = ? AND missing = 1 ORDER BY rank");
        missing.bind(run, record.step);
        while (missing.next())
            record.missingRanks.push_back(static_cast<int>(missing.integer(0)));
    }
    return records;
}

StepTimeline Workspace::stepTimeline(RunId run, std::int64_t step) const {
    sqlite::Transaction snapshot(state_->connection, sqlite::Transaction::Kind::Snapshot);
    StepTimeline timeline;
    sqlite::Statement row(state_->connection,
                          "SELECT step, complete, begin_ns, end_ns FROM steps WHERE run = ? AND step = ?");
    if (!row.bind(run, step).next())
        throw Error(fmt::format("{}: run {} has no step {}", state_->name(), run, step));
    timeline.step = row.integer(0);
    timeline.complete = row.integer(1) != 0;
    timeline.begin = row.integer(2);
    timeline.end = row.integer(3);
    std::map<int, std::size_t> places;
    sqlite::Statement ranks(state_->connection,
                            "SELECT rank, recorded FROM rank_steps WHERE run = ? AND step = ? ORDER BY rank");
    ranks.bind(run, step);
    while (ranks.next()) {
        const int rank = static_cast<int>(ranks.integer(0));
        places[rank] = timeline.ranks.size();
        timeline.ranks.push_back({rank, ranks.integer(1) != 0, {}});
    }
    sqlite::Statement spans(
        state_->connection,
        "SELECT rank, lane, kind, begin_ns, end_ns, waiting_until_ns, tokens, bytes, flops, "
        "document, micro_batch, layer, blamed_rank, modelled FROM spans "
        "WHERE run = ? AND step = ? ORDER BY rank, lane, sequence");
    spans.bind(run, step);
    while (spans.next()) {
        const auto place = places.find(static_cast<int>(spans.integer(0)));
        if (place == places.end())
            throw Error(
                fmt::format("{}: damaged workspace: spans of rank {} in step {} of run {}, which it lacks",
                            state_->name(), spans.integer(0), step, run));
        Span span;
        span.lane = state_->value<Lane>(spans.integer(1), 0, 3, "spans.lane");
        span.kind = state_->value<SpanKind>(spans.integer(2), 1, kSpanKindCount, "spans.kind");
        span.begin = spans.integer(3);
        span.end = spans.integer(4);
        span.waitingUntil = spans.integer(5);
        span.tokens = spans.integer(6);
        span.bytes = spans.integer(7);
        span.flops = spans.real(8);
        span.document = spans.integer(9);
        span.microBatch = static_cast<std::int32_t>(spans.integer(10));
        span.layer = static_cast<std::int32_t>(spans.integer(11));
        span.blamedRank = static_cast<std::int32_t>(spans.integer(12));
        span.modelled = spans.integer(13) != 0;
        timeline.ranks[place->second].spans.push_back(span);
    }
    return timeline;
}

std::vector<RankStepRecord> Workspace::rankSteps(RunId run) const {
    sqlite::Transaction snapshot(state_->connection, sqlite::Transaction::Kind::Snapshot);
    std::vector<RankStepRecord> records;
    std::map<std::pair<std::int64_t, int>, std::size_t> places;
    sqlite::Statement select(
        state_->connection,
        "SELECT step, rank, waiting_s, pipeline_idle_s, weights_bytes, gradients_bytes, "
        "optimizer_bytes, activations_bytes, key_values_bytes, logits_bytes FROM rank_steps "
        "WHERE run = ? AND pipeline_idle_s IS NOT NULL ORDER BY step, rank");
    select.bind(run);
    while (select.next()) {
        RankStepRecord record;
        record.step = select.integer(0);
        record.rank = static_cast<int>(select.integer(1));
        record.breakdown.kindSeconds.assign(kKinds, 0.0);
        record.breakdown.waitingByKindSeconds.assign(kKinds, 0.0);
        record.breakdown.waitingSeconds = select.real(2);
        record.breakdown.pipelineIdleSeconds = select.real(3);
        for (int index = 0; index < 6; ++index)
            record.peakBytes[index] = select.integer(4 + index);
        places[{record.step, record.rank}] = records.size();
        records.push_back(std::move(record));
    }
    sqlite::Statement kinds(state_->connection,
                            "SELECT step, rank, kind, seconds, waiting_s FROM rank_step_kinds WHERE run = ?");
    kinds.bind(run);
    while (kinds.next()) {
        const auto place = places.find({kinds.integer(0), static_cast<int>(kinds.integer(1))});
        if (place == places.end())
            continue;
        const auto kind = static_cast<std::size_t>(
            state_->value<SpanKind>(kinds.integer(2), 1, kSpanKindCount, "rank_step_kinds.kind"));
        records[place->second].breakdown.kindSeconds[kind] = kinds.real(3);
        records[place->second].breakdown.waitingByKindSeconds[kind] = kinds.real(4);
    }
    return records;
}

}  // namespace ballast
