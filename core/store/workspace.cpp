// SPDX-License-Identifier: Apache-2.0
#include "core/store/workspace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "core/base/error.h"
#include "core/store/workspace_file.h"
#include "core/store/workspace_state.h"

namespace ballast {
namespace {

constexpr std::chrono::seconds kPatience(10);  // formats.md, "Workspace"

constexpr std::array<std::string_view, 4> kRunKindNames = {"", "simulated", "measured", "imported"};
constexpr std::array<std::string_view, 9> kRunStateNames = {
    "", "planned", "queued", "running", "stopping", "done", "stopped", "failed", "lost"};

/// Nothing can be created beside the file, and no log holds pages of it: the file alone is the whole
/// workspace.
bool standsAlone(const std::filesystem::path& file) {
    std::filesystem::path log = file;
    log += "-wal";
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    return ::access(folder.c_str(), W_OK) != 0 && !std::filesystem::exists(log, problem);
}

sqlite::Connection connect(const std::filesystem::path& file, Workspace::Mode mode) {
    using Access = sqlite::Connection::Access;
    Access access = mode == Workspace::Mode::ReadWrite ? Access::ReadWrite : Access::ReadOnly;
    if (access == Access::ReadOnly && standsAlone(file))
        access = Access::Immutable;
    sqlite::Connection connection(file, access);
    connection.setPatience(kPatience);
    return connection;
}

}  // namespace

std::string_view runKindName(RunKind kind) {
    return kRunKindNames.at(static_cast<std::size_t>(kind));
}

std::string_view runStateName(RunState state) {
    return kRunStateNames.at(static_cast<std::size_t>(state));
}

std::optional<RunState> runStateFromName(std::string_view name) {
    for (std::size_t value = 1; value < kRunStateNames.size(); ++value)
        if (kRunStateNames[value] == name)
            return static_cast<RunState>(value);
    return std::nullopt;
}

std::int64_t secondsSince1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Workspace Workspace::open(const std::filesystem::path& file, Mode mode) {
    std::error_code problem;
    if (mode == Mode::ReadWrite && !std::filesystem::exists(std::filesystem::symlink_status(file, problem)))
        createWorkspaceFile(file);
    const int schema = readSchemaNumber(file);
    if (schema > kSchemaNumber && mode == Mode::ReadWrite)
        throw Error(
            fmt::format("{}: written by a newer ballast (schema {}, this program writes schema {}); it can "
                        "only be read",
                        file.string(), schema, kSchemaNumber));
    auto state = std::make_unique<State>(State{connect(file, mode), schema});
    if (mode == Mode::ReadWrite)
        state->connection.execute(
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL");
    state->connection.execute("PRAGMA cell_size_check = ON");
    if (schema == kSchemaNumber)  // a schema that can't be parsed, or lacks a table, is found at once
        sqlite::Statement(
            state->connection,
            "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM steps), id FROM names LIMIT 1")
            .run();
    return Workspace(std::move(state));
}

Workspace::Workspace(std::unique_ptr<State> state) : state_(std::move(state)) {}
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
Workspace::~Workspace() = default;

const std::filesystem::path& Workspace::path() const {
    return state_->connection.path();
}

bool Workspace::isNewer() const {
    return state_->schema > kSchemaNumber;
}

int Workspace::schemaNumber() const {
    return state_->schema;
}

void Workspace::setPatience(std::chrono::milliseconds patience) {
    state_->connection.setPatience(patience);
}

std::filesystem::path Workspace::runDirectory(RunId run) const {
    std::filesystem::path runs = path();
    runs += ".runs";
    return runs / std::to_string(run);
}

std::vector<std::string> Workspace::integrityProblems() const {
    std::vector<std::string> problems;
    sqlite::Statement integrity(state_->connection, "PRAGMA integrity_check");
    while (integrity.next())
        if (const std::string line = integrity.text(0); line != "ok")
            problems.push_back(line);
    sqlite::Statement foreignKeys(state_->connection, "PRAGMA foreign_key_check");
    while (foreignKeys.next())
        problems.push_back(fmt::format("table {}: a row refers to a row of {} that is not there",
                                       foreignKeys.text(0), foreignKeys.text(2)));
    return problems;
}

std::int64_t Workspace::State::nameId(const std::string& text) {
    sqlite::Statement(connection, "INSERT OR IGNORE INTO names (name) VALUES (?)").bind(text).run();
    sqlite::Statement select(connection, "SELECT id FROM names WHERE name = ?");
    select.bind(text).next();
    return select.integer(0);
}

void Workspace::State::failOnValue(std::int64_t stored, std::string_view column) const {
    throw Error(fmt::format("{}: damaged workspace: {} is not a value of {}", name(), stored, column));
}

}  // namespace ballast
