// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

/// The only door to SQLite: move-only wrappers whose every failure is a ballast::Error that names the file.
/// Private to core/store.
namespace ballast::sqlite {

class Connection {
  public:
    /// Immutable: the file can't change and nothing may be created beside it (a read-only folder).
    enum class Access { ReadOnly, Immutable, ReadWrite, Create };

    Connection(const std::filesystem::path& file, Access access);
    /// A writer brings what it wrote from the log into the file, so that a copy of the file alone is whole.
    ~Connection();
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&&) = delete;

    /// How long a lock of another program is waited for.
    void setPatience(std::chrono::milliseconds patience);
    /// One or more statements without parameters or results.
    void execute(const std::string& sql);
    std::int64_t lastInsertedId() const;
    const std::filesystem::path& path() const { return path_; }

    /// Throws the Error that `code` stands for.
    [[noreturn]] void fail(int code) const;

  private:
    friend class Statement;
    std::filesystem::path path_;
    std::chrono::milliseconds patience_{0};
    sqlite3* handle_ = nullptr;
};

/// A prepared statement. Text is copied on binding and on reading.
class Statement {
  public:
    Statement(const Connection& connection, std::string_view sql);
    ~Statement();
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;

    /// Binds parameters 1, 2, ... in order.
    template <class... Values>
    Statement& bind(const Values&... values) {
        int index = 0;
        (bindOne(++index, values), ...);
        return *this;
    }
    /// True when a row is there; false at the end.
    bool next();
    /// Runs to the end and makes it ready for other parameters.
    void run();

    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::optional<std::int64_t> maybeInteger(int column) const;
    std::optional<double> maybeReal(int column) const;

  private:
    void bindOne(int index, std::int64_t value);
    void bindOne(int index, int value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, bool value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, double value);
    void bindOne(int index, std::string_view value);
    void bindOne(int index, const std::string& value) { bindOne(index, std::string_view(value)); }
    void bindOne(int index, const char* value) { bindOne(index, std::string_view(value)); }
    void bindNull(int index);
    template <class Value>
    void bindOne(int index, const std::optional<Value>& value) {
        if (value)
            bindOne(index, *value);
        else
            bindNull(index);
    }
    void check(int code) const;

    const Connection* connection_;
    sqlite3_stmt* handle_ = nullptr;
};

/// Rolls back unless committed. Immediate takes the write lock at once, since a read that turns into a write
/// fails at once when another program writes; Snapshot makes several reads see one state.
class Transaction {
  public:
    enum class Kind { Immediate, Snapshot };

    explicit Transaction(Connection& connection, Kind kind = Kind::Immediate);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit();

  private:
    Connection* connection_;
    bool open_ = true;
};

}  // namespace ballast::sqlite
