// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/content_hash.h"
#include "core/store/plan_json.h"
#include "core/store/workspace_state.h"

namespace ballast {
namespace {

/// The statements that store the steps of one plan, prepared once.
class PlanStepInserter {
  public:
    PlanStepInserter(sqlite::Connection& connection, std::int64_t plan, const CostModel& cost)
        : addStep_(connection,
                   "INSERT INTO plan_steps (plan, step, kind, tokens, targets, content, body) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?)"),
          addMicroBatch_(
              connection,
              "INSERT INTO micro_batches (plan, step, dp, place, tokens, pieces, workload_s, sharding) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
          plan_(plan),
          cost_(cost) {}

    template <class NameId>
    void insert(const PlanStep& step, NameId nameId) {
        addStep_
            .bind(plan_, step.step, static_cast<int>(step.kind), step.tokens(), step.targets(),
                  stepContent(step), planStepJson(step))
            .run();
        for (const PlannedMicroBatch& planned : step.microBatches) {
            const MicroBatch& batch = planned.batch;
            addMicroBatch_
                .bind(plan_, step.step, batch.dp, batch.index, batch.tokens,
                      static_cast<std::int64_t>(batch.pieces.size()), cost_.workload(batch.work).value(),
                      nameId(planned.sharding.strategy))
                .run();
        }
    }

  private:
    sqlite::Statement addStep_;
    sqlite::Statement addMicroBatch_;
    std::int64_t plan_;
    const CostModel& cost_;
};

}  // namespace

std::int64_t Workspace::addPlan(const PlanHeader& header, const std::vector<PlanStep>& steps,
                                const std::vector<Discard>& discards) {
    const CostModel cost(header.scenario, header.model, header.cluster);
    TrainedPiecesHash hash;
    for (const PlanStep& step : steps)
        hash.add(step);
    const TrainedPieces trained = hash.result();

    sqlite::Connection& connection = state_->connection;
    sqlite::Transaction transaction(connection);
    sqlite::Statement(connection,
                      "INSERT INTO plans (created_at, header, discards, cost_model_version, steps, pieces, "
                      "tokens, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(secondsSince1970(), planHeaderJson(header), discardsJson(discards), header.costModelVersion,
              static_cast<std::int64_t>(steps.size()), trained.pieces, trained.tokens, trained.hash)
        .run();
    const std::int64_t plan = connection.lastInsertedId();
    PlanStepInserter inserter(connection, plan, cost);
    for (const PlanStep& step : steps)
        inserter.insert(step, [this](const std::string& name) { return state_->nameId(name); });
    transaction.commit();
    return plan;
}

PlanRecord Workspace::plan(std::int64_t plan) const {
    sqlite::Statement select(state_->connection,
                             "SELECT id, created_at, steps, pieces, tokens, content, cost_model_version "
                             "FROM plans WHERE id = ?");
    if (!select.bind(plan).next())
        throw Error(fmt::format("{}: no plan {}", state_->name(), plan));
    return {select.integer(0),
            select.integer(1),
            select.integer(2),
            select.integer(3),
            select.integer(4),
            select.text(5),
            static_cast<int>(select.integer(6))};
}

PlanHeader Workspace::planHeader(std::int64_t plan) const {
    sqlite::Statement select(state_->connection, "SELECT header FROM plans WHERE id = ?");
    if (!select.bind(plan).next())
        throw Error(fmt::format("{}: no plan {}", state_->name(), plan));
    return parsePlanHeader(select.text(0), fmt::format("{}: plan {}", state_->name(), plan));
}

std::vector<Discard> Workspace::planDiscards(std::int64_t plan) const {
    sqlite::Statement select(state_->connection, "SELECT discards FROM plans WHERE id = ?");
    if (!select.bind(plan).next())
        throw Error(fmt::format("{}: no plan {}", state_->name(), plan));
    return parseDiscards(select.text(0), fmt::format("{}: plan {}", state_->name(), plan));
}

std::vector<PlanStep> Workspace::planSteps(std::int64_t plan) const {
    std::vector<PlanStep> steps;
    sqlite::Statement select(state_->connection,
                             "SELECT step, body FROM plan_steps WHERE plan = ? ORDER BY step");
    select.bind(plan);
    while (select.next())
        steps.push_back(parsePlanStep(
            select.text(1), fmt::format("{}: plan {}, step {}", state_->name(), plan, select.integer(0))));
    return steps;
}

std::vector<PlanStepRecord> Workspace::planStepRecords(std::int64_t plan) const {
    std::vector<PlanStepRecord> records;
    sqlite::Statement select(
        state_->connection,
        "SELECT step, kind, tokens, targets, content FROM plan_steps WHERE plan = ? ORDER BY step");
    select.bind(plan);
    while (select.next())
        records.push_back({select.integer(0),
                           state_->value<StepKind>(select.integer(1), 0, 2, "plan_steps.kind"),
                           select.integer(2), select.integer(3), select.text(4)});
    return records;
}

std::vector<MicroBatchRecord> Workspace::microBatches(std::int64_t plan) const {
    std::vector<MicroBatchRecord> records;
    sqlite::Statement select(
        state_->connection,
        "SELECT m.step, m.dp, m.place, m.tokens, m.workload_s, n.name FROM micro_batches m "
        "JOIN names n ON n.id = m.sharding WHERE m.plan = ? ORDER BY m.step, m.dp, m.place");
    select.bind(plan);
    while (select.next())
        records.push_back({select.integer(0), static_cast<int>(select.integer(1)),
                           static_cast<int>(select.integer(2)), select.integer(3), select.real(4),
                           select.text(5)});
    return records;
}

}  // namespace ballast
