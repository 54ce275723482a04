// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/workspace_state.h"

namespace ballast {

std::int64_t Workspace::addScenario(const std::string& json, std::optional<std::int64_t> parent,
                                    const std::string& label) {
    sqlite::Transaction transaction(state_->connection);
    if (parent) {
        sqlite::Statement select(state_->connection, "SELECT 1 FROM scenarios WHERE id = ?");
        if (!select.bind(*parent).next())
            throw Error(fmt::format("{}: no scenario {} that could be a parent", state_->name(), *parent));
    }
    sqlite::Statement(state_->connection,
                      "INSERT INTO scenarios (parent, label, json, created_at) VALUES (?, ?, ?, ?)")
        .bind(parent, label, json, secondsSince1970())
        .run();
    const std::int64_t id = state_->connection.lastInsertedId();
    transaction.commit();
    return id;
}

std::optional<std::string> Workspace::latestScenario() const {
    sqlite::Statement select(state_->connection, "SELECT json FROM scenarios ORDER BY id DESC LIMIT 1");
    return select.next() ? std::optional(select.text(0)) : std::nullopt;
}

std::vector<ScenarioRecord> Workspace::scenarios() const {
    std::vector<ScenarioRecord> records;
    sqlite::Statement select(state_->connection,
                             "SELECT id, parent, label, json, created_at FROM scenarios ORDER BY id");
    while (select.next())
        records.push_back(
            {select.integer(0), select.maybeInteger(1), select.text(2), select.text(3), select.integer(4)});
    return records;
}

}  // namespace ballast
