// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ballast {

/// A JSON text as plain values: object members in their order, whole numbers told apart from others.
struct JsonValue {
    using Array = std::vector<JsonValue>;
    using Object = std::vector<std::pair<std::string, JsonValue>>;

    std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> data =
        nullptr;

    bool isNull() const { return std::holds_alternative<std::nullptr_t>(data); }
    const std::string* string() const { return std::get_if<std::string>(&data); }
    const Array* array() const { return std::get_if<Array>(&data); }
    const Object* object() const { return std::get_if<Object>(&data); }
    Object* object() { return std::get_if<Object>(&data); }
    /// The member of an object, or nullptr.
    const JsonValue* find(std::string_view key) const;

    /// "a string", "a list", ...: for error sentences.
    std::string_view kind() const;
    /// The value as compact JSON, cut to a length fit for a sentence.
    std::string brief() const;
};

/// Parses strictly: no comments, no repeated keys, at most 64 levels and 4096 keys an
/// object. `source` names the text in errors.
/// Throws Error (BadInput) with source, line and byte offset.
JsonValue parseJson(std::string_view text, std::string_view source);

}  // namespace ballast
