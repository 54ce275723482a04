// SPDX-License-Identifier: Apache-2.0
#include "core/job/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/nearest.h"

namespace ballast {

JsonReader::JsonReader(const JsonValue& value, std::string_view source, std::string_view path)
    : value_(value), source_(source), path_(path) {
    if (!value.object())
        fail(path.empty() ? "the file" : path, fmt::format("expected an object, found {}", value.kind()));
}

void JsonReader::fail(std::string_view path, std::string_view sentence) const {
    throw Error(fmt::format("{}: {}: {}", source_, path, sentence));
}

std::string JsonReader::pathOf(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void JsonReader::refuseUnknown(std::span<const std::string_view> keys,
                               std::span<const std::string_view> elsewhere) const {
    for (const auto& [key, member] : *value_.object()) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end())
            continue;
        std::string best = pathOf(nearest(key, keys));
        std::size_t least = editDistance(key, nearest(key, keys));
        for (std::string_view path : elsewhere) {
            const std::string_view leaf = path.substr(path.rfind('.') + 1);
            if (editDistance(key, leaf) < least) {
                least = editDistance(key, leaf);
                best = path;
            }
        }
        throw Error(fmt::format("{}: unknown key \"{}\"; the nearest key is \"{}\"", source_,
                                pathOf(std::string_view(key).substr(0, 80)), best));
    }
}

const JsonValue& JsonReader::need(std::string_view key) const {
    const JsonValue* member = find(key);
    if (!member)
        throw Error(fmt::format("{}: key \"{}\" is missing", source_, pathOf(key)));
    return *member;
}

std::int64_t JsonReader::integerOf(const JsonValue& value, std::string_view path,
                                   Range<std::int64_t> range) const {
    const bool huge = std::holds_alternative<std::uint64_t>(value.data);
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (!number && !huge)
        fail(path, fmt::format("expected a whole number, found {} ({})", value.kind(), value.brief()));
    if (huge || *number < range.least || *number > range.most)
        fail(path, fmt::format("expected {} to {}, found {}", range.least, range.most, value.brief()));
    return *number;
}

double JsonReader::numberOf(const JsonValue& value, std::string_view path, Range<double> range) const {
    double number = 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value.data))
        number = static_cast<double>(*whole);
    else if (const auto* large = std::get_if<std::uint64_t>(&value.data))
        number = static_cast<double>(*large);
    else if (const auto* real = std::get_if<double>(&value.data))
        number = *real;
    else
        fail(path, fmt::format("expected a number, found {} ({})", value.kind(), value.brief()));
    if (!(number >= range.least && number <= range.most))
        fail(path, fmt::format("expected {} to {}, found {}", range.least, range.most, value.brief()));
    return number;
}

std::int64_t JsonReader::integer(std::string_view key, std::int64_t fallback,
                                 Range<std::int64_t> range) const {
    const JsonValue* member = find(key);
    return member ? integerOf(*member, pathOf(key), range) : fallback;
}

std::uint64_t JsonReader::unsignedInteger(std::string_view key, std::uint64_t fallback) const {
    const JsonValue* member = find(key);
    if (!member)
        return fallback;
    if (const auto* large = std::get_if<std::uint64_t>(&member->data))
        return *large;
    return static_cast<std::uint64_t>(integerOf(*member, pathOf(key), {0, INT64_MAX}));
}

double JsonReader::number(std::string_view key, double fallback, Range<double> range) const {
    const JsonValue* member = find(key);
    return member ? numberOf(*member, pathOf(key), range) : fallback;
}

bool JsonReader::boolean(std::string_view key, bool fallback) const {
    const JsonValue* member = find(key);
    if (!member)
        return fallback;
    if (const auto* value = std::get_if<bool>(&member->data))
        return *value;
    fail(pathOf(key), fmt::format("expected true or false, found {} ({})", member->kind(), member->brief()));
}

std::string JsonReader::text(std::string_view key, std::string_view fallback) const {
    const JsonValue* member = find(key);
    if (!member)
        return std::string(fallback);
    if (const std::string* value = member->string())
        return *value;
    fail(pathOf(key), fmt::format("expected a string, found {} ({})", member->kind(), member->brief()));
}

std::size_t JsonReader::choice(std::string_view key, std::size_t fallback,
                               std::span<const std::string_view> allowed) const {
    if (!has(key))
        return fallback;
    const std::string value = text(key, "");
    const auto found = std::find(allowed.begin(), allowed.end(), value);
    if (found == allowed.end())
        fail(pathOf(key),
             fmt::format("expected one of {}, found \"{}\"; the nearest is \"{}\"", fmt::join(allowed, ", "),
                         value.substr(0, 80), nearest(value, allowed)));
    return static_cast<std::size_t>(found - allowed.begin());
}

std::vector<std::int64_t> JsonReader::integers(std::string_view key, Range<std::int64_t> range,
                                               std::size_t mostElements) const {
    const JsonValue& member = need(key);
    const JsonValue::Array* elements = member.array();
    if (!elements)
        fail(pathOf(key), fmt::format("expected a list, found {} ({})", member.kind(), member.brief()));
    if (elements->size() > mostElements)
        fail(pathOf(key),
             fmt::format("expected at most {} elements, found {}", mostElements, elements->size()));
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < elements->size(); ++i)
        values.push_back(integerOf((*elements)[i], fmt::format("{}[{}]", pathOf(key), i), range));
    return values;
}

JsonReader JsonReader::object(std::string_view key) const {
    return JsonReader(need(key), source_, pathOf(key));
}

}  // namespace ballast
