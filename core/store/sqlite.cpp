// SPDX-License-Identifier: Apache-2.0
#include "core/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "core/base/error.h"

namespace ballast::sqlite {
namespace {

int openFlags(Connection::Access access) {
    // One object is used by one thread, so that SQLite's own mutexes would only cost.
    const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    switch (access) {
        case Connection::Access::ReadOnly:
            return common | SQLITE_OPEN_READONLY;
        case Connection::Access::Immutable:
            return common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
        case Connection::Access::ReadWrite:
            return common | SQLITE_OPEN_READWRITE;
        case Connection::Access::Create:
            return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    }
    return common;
}

/// file:<path>?immutable=1 with every byte that a URI could misread written as %XX.
std::string immutableUri(const std::string& path) {
    std::string uri = "file:";
    for (const char letter : path) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte <= ' ' || byte >= 127 || letter == '%' || letter == '?' || letter == '#')
            uri += fmt::format("%{:02X}", byte);
        else
            uri += letter;
    }
    return uri + "?immutable=1";
}

}  // namespace

Connection::Connection(const std::filesystem::path& file, Access access) : path_(file) {
    // An absolute path is never one of SQLite's special names, such as :memory:.
    const std::string absolute = std::filesystem::absolute(file).string();
    const std::string name = access == Access::Immutable ? immutableUri(absolute) : absolute;
    const int code = sqlite3_open_v2(name.c_str(), &handle_, openFlags(access), nullptr);
    if (code != SQLITE_OK) {
        const std::string reason = sqlite3_errstr(code);
        sqlite3_close_v2(std::exchange(handle_, nullptr));
        throw Error(fmt::format("{}: cannot be opened: {}", path_.string(), reason));
    }
    // A file may come from anywhere: nothing in its schema may call functions or write past its bounds.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
}

Connection::~Connection() {
    // SQLite does it itself only when no reader is left, and a reader that leaves last can't.
    constexpr int kMilliseconds = 500;
    if (handle_ != nullptr && sqlite3_db_readonly(handle_, "main") == 0) {
        sqlite3_busy_timeout(handle_, kMilliseconds);
        sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    }
    sqlite3_close_v2(handle_);
}

Connection::Connection(Connection&& other) noexcept
    : path_(std::move(other.path_)),
      patience_(other.patience_),
      handle_(std::exchange(other.handle_, nullptr)) {}

void Connection::setPatience(std::chrono::milliseconds patience) {
    patience_ = patience;
    sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
}

void Connection::execute(const std::string& sql) {
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        fail(code);
}

std::int64_t Connection::lastInsertedId() const {
    return sqlite3_last_insert_rowid(handle_);
}

void Connection::fail(int code) const {
    const std::string name = path_.string();
    const char* reason = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            throw Error(fmt::format("workspace {} is busy: another program has held it for {} s", name,
                                    static_cast<double>(patience_.count()) / 1000),
                        ErrorCode::WorkFailed);
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
            throw Error(fmt::format("{}: damaged workspace: {}", name, reason));
        case SQLITE_READONLY:
            throw Error(fmt::format("{}: cannot be written: {}", name, reason));
        case SQLITE_FULL:
        case SQLITE_IOERR:
            throw Error(fmt::format("{}: {}", name, reason), ErrorCode::WorkFailed);
        default:
            throw Error(fmt::format("{}: {}", name, reason));
    }
}

Statement::Statement(const Connection& connection, std::string_view sql) : connection_(&connection) {
    check(
        sqlite3_prepare_v2(connection.handle_, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr));
}

Statement::~Statement() {
    sqlite3_finalize(handle_);
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), handle_(std::exchange(other.handle_, nullptr)) {}

bool Statement::next() {
    const int code = sqlite3_step(handle_);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        connection_->fail(code);
    return false;
}

void Statement::run() {
    while (next()) {
    }
    sqlite3_reset(handle_);
}

bool Statement::isNull(int column) const {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(handle_, column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(handle_, column);
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
                 : std::string();
}

std::optional<std::int64_t> Statement::maybeInteger(int column) const {
    return isNull(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::maybeReal(int column) const {
    return isNull(column) ? std::nullopt : std::optional(real(column));
}

void Statement::bindOne(int index, std::int64_t value) {
    check(sqlite3_bind_int64(handle_, index, value));
}

void Statement::bindOne(int index, double value) {
    check(sqlite3_bind_double(handle_, index, value));
}

void Statement::bindOne(int index, std::string_view value) {
    check(sqlite3_bind_text64(handle_, index, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bindNull(int index) {
    check(sqlite3_bind_null(handle_, index));
}

void Statement::check(int code) const {
    if (code != SQLITE_OK)
        connection_->fail(code);
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(&connection) {
    connection.execute(kind == Kind::Immediate ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    if (!open_)
        return;
    try {
        connection_->execute("ROLLBACK");
    } catch (const Error&) {
        // SQLite has rolled back by itself (full disk, damaged file): nothing is left to undo.
    }
}

void Transaction::commit() {
    connection_->execute("COMMIT");
    open_ = false;
}

}  // namespace ballast::sqlite
