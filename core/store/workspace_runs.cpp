// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/workspace_state.h"

namespace ballast {
namespace {

constexpr const char* kRunColumns =
    "SELECT id, kind, state, clock, tp, cp, dp, pp, name, scenario, tokens_are, host, failure, prediction, "
    "plan, "
    "created_at, planned_steps, cost_model_version FROM runs ";

/// More ranks than any job has; a damaged degree must not size a loop.
constexpr std::int64_t kMostRanks = 1 << 22;

}  // namespace

RunRecord Workspace::State::runRecord(const sqlite::Statement& row) const {
    RunRecord run;
    run.id = row.integer(0);
    run.kind = value<RunKind>(row.integer(1), 1, 3, "runs.kind");
    run.state = value<RunState>(row.integer(2), 1, 8, "runs.state");
    run.clock = value<Clock>(row.integer(3), 0, 2, "runs.clock");
    std::int64_t ranks = 1;
    int column = 4;
    for (int* degree : {&run.layout.tp, &run.layout.cp, &run.layout.dp, &run.layout.pp}) {
        *degree = value<int>(row.integer(column++), 1, kMostRanks / ranks, "a degree of the layout of runs");
        ranks *= *degree;
    }
    run.name = row.text(8);
    run.scenario = row.text(9);
    run.tokensAre = row.text(10);
    run.host = row.text(11);
    run.failure = row.text(12);
    run.prediction = row.maybeInteger(13);
    run.plan = row.maybeInteger(14);
    run.createdAt = row.integer(15);
    run.plannedSteps = row.integer(16);
    run.costModelVersion = static_cast<int>(row.integer(17));
    return run;
}

RunId Workspace::addRun(const RunRecord& run) {
    sqlite::Connection& connection = state_->connection;
    sqlite::Transaction transaction(connection);
    sqlite::Statement(
        connection,
        "INSERT INTO runs (kind, state, clock, tp, cp, dp, pp, name, scenario, tokens_are, host, "
        "failure, prediction, plan, created_at, planned_steps, cost_model_version) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(static_cast<int>(run.kind), static_cast<int>(run.state), static_cast<int>(run.clock),
              run.layout.tp, run.layout.cp, run.layout.dp, run.layout.pp, run.name, run.scenario,
              run.tokensAre, run.host, run.failure, run.prediction, run.plan,
              run.createdAt ? run.createdAt : secondsSince1970(), run.plannedSteps, run.costModelVersion)
        .run();
    const RunId id = connection.lastInsertedId();
    sqlite::Statement addRank(connection,
                              "INSERT INTO ranks (run, rank, tp, cp, dp, pp) VALUES (?, ?, ?, ?, ?, ?)");
    for (int rank = 0; rank < run.layout.worldSize(); ++rank) {
        const Coordinate at = run.layout.coordinateOf(rank);
        addRank.bind(id, rank, at.tp, at.cp, at.dp, at.pp).run();
    }
    transaction.commit();
    return id;
}

std::vector<RunRecord> Workspace::runs() const {
    std::vector<RunRecord> records;
    sqlite::Statement select(state_->connection, std::string(kRunColumns) + "ORDER BY id");
    while (select.next())
        records.push_back(state_->runRecord(select));
    return records;
}

RunRecord Workspace::run(RunId id) const {
    sqlite::Statement select(state_->connection, std::string(kRunColumns) + "WHERE id = ?");
    if (!select.bind(id).next())
        throw Error(fmt::format("{}: no run {}", state_->name(), id));
    return state_->runRecord(select);
}

void Workspace::setRunState(RunId id, RunState state, const std::string& failure) {
    sqlite::Statement(state_->connection, "UPDATE runs SET state = ?, failure = ? WHERE id = ?")
        .bind(static_cast<int>(state), failure, id)
        .run();
}

void Workspace::setPrediction(RunId id, RunId prediction) {
    sqlite::Statement(state_->connection, "UPDATE runs SET prediction = ? WHERE id = ?")
        .bind(prediction, id)
        .run();
}

void Workspace::addLog(RunId run, const std::vector<LogLine>& lines) {
    sqlite::Transaction transaction(state_->connection);
    sqlite::Statement insert(state_->connection,
                             "INSERT INTO logs (run, time, rank, text) VALUES (?, ?, ?, ?)");
    for (const LogLine& line : lines)
        insert.bind(run, line.time, line.rank, line.text).run();
    transaction.commit();
}

std::vector<LogLine> Workspace::log(RunId run) const {
    std::vector<LogLine> lines;
    sqlite::Statement select(state_->connection,
                             "SELECT time, rank, text FROM logs WHERE run = ? ORDER BY id");
    select.bind(run);
    while (select.next())
        lines.push_back({select.integer(0), static_cast<int>(select.integer(1)), select.text(2)});
    return lines;
}

}  // namespace ballast
