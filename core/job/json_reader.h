// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/json_value.h"

namespace ballast {

/// Allowed values of a number, both ends included.
template <class Number>
struct Range {
    Number least;
    Number most;
};

/// Reads the members of one JSON object by name, with a default for each that is absent. Every error is an
/// Error (BadInput) that names the source, the key's full path, what was found and what is allowed. Borrows
/// the value it reads.
class JsonReader {
  public:
    /// `path` is empty for the root. Throws when `value` is not an object.
    JsonReader(const JsonValue& value, std::string_view source, std::string_view path = {});

    /// Throws for a member that is not in `keys`, naming the nearest; `elsewhere` are full paths that are
    /// offered too when they are nearer.
    void refuseUnknown(std::span<const std::string_view> keys,
                       std::span<const std::string_view> elsewhere = {}) const;

    bool has(std::string_view key) const { return value_.find(key) != nullptr; }
    const JsonValue* find(std::string_view key) const { return value_.find(key); }
    /// The member, which must be there.
    const JsonValue& need(std::string_view key) const;
    std::string pathOf(std::string_view key) const;
    const std::string& source() const { return source_; }

    std::int64_t integer(std::string_view key, std::int64_t fallback, Range<std::int64_t> range) const;
    std::uint64_t unsignedInteger(std::string_view key, std::uint64_t fallback) const;
    double number(std::string_view key, double fallback, Range<double> range) const;
    bool boolean(std::string_view key, bool fallback) const;
    std::string text(std::string_view key, std::string_view fallback) const;
    /// A string that must be one of `allowed`; gives its index.
    std::size_t choice(std::string_view key, std::size_t fallback,
                       std::span<const std::string_view> allowed) const;
    /// A list of whole numbers in range, at most `mostElements` long; the member must be there.
    std::vector<std::int64_t> integers(std::string_view key, Range<std::int64_t> range,
                                       std::size_t mostElements) const;
    /// A reader of the member, which must be an object.
    JsonReader object(std::string_view key) const;

    std::int64_t integerOf(const JsonValue& value, std::string_view path, Range<std::int64_t> range) const;
    double numberOf(const JsonValue& value, std::string_view path, Range<double> range) const;

    /// Throws "source: path: sentence".
    [[noreturn]] void fail(std::string_view path, std::string_view sentence) const;

  private:
    const JsonValue& value_;
    std::string source_;
    std::string path_;
};

}  // namespace ballast
