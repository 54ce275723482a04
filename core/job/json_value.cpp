// SPDX-License-Identifier: Apache-2.0
#include "core/job/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"

namespace ballast {
namespace {

constexpr std::size_t kDeepest = 64;
// Repeated keys are looked for one by one, so the number of members has to stay small.
constexpr std::size_t kMostMembers = 4096;

/// Builds a JsonValue from the parser's events; `failure` tells why parsing ended early.
class Builder : public nlohmann::json_sax<nlohmann::json> {
  public:
    JsonValue root;
    std::optional<std::string> failure;
    std::size_t failureOffset = 0;

    bool null() override { return put(JsonValue{nullptr}); }
    bool boolean(bool value) override { return put(JsonValue{value}); }
    bool number_integer(number_integer_t value) override {
        return put(JsonValue{static_cast<std::int64_t>(value)});
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value <= static_cast<number_unsigned_t>(INT64_MAX))
            return put(JsonValue{static_cast<std::int64_t>(value)});
        return put(JsonValue{static_cast<std::uint64_t>(value)});
    }
    bool number_float(number_float_t value, const string_t&) override { return put(JsonValue{value}); }
    bool string(string_t& value) override { return put(JsonValue{std::move(value)}); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(JsonValue{JsonValue::Object{}}); }
    bool start_array(std::size_t) override { return open(JsonValue{JsonValue::Array{}}); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (open_.back()->find(name))
            return fail(fmt::format("key \"{}\" appears twice", name.substr(0, 80)));
        if (open_.back()->object()->size() >= kMostMembers)
            return fail(fmt::format("an object has more than {} keys", kMostMembers));
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        failureOffset = position;
        // The library's sentence repeats the position; keep what follows it.
        std::string_view sentence = error.what();
        const std::size_t cut = sentence.find(": ");
        failure = std::string(cut == std::string_view::npos ? sentence : sentence.substr(cut + 2));
        return false;
    }

  private:
    std::vector<JsonValue*> open_;
    std::string key_;

    bool fail(std::string why) {
        failure = std::move(why);
        return false;
    }
    JsonValue* place(JsonValue value) {
        if (open_.empty()) {
            root = std::move(value);
            return &root;
        }
        if (JsonValue::Object* members = open_.back()->object()) {
            members->emplace_back(std::move(key_), std::move(value));
            return &members->back().second;
        }
        auto& elements = std::get<JsonValue::Array>(open_.back()->data);
        elements.push_back(std::move(value));
        return &elements.back();
    }
    bool put(JsonValue value) {
        place(std::move(value));
        return true;
    }
    bool open(JsonValue value) {
        if (open_.size() >= kDeepest)
            return fail(fmt::format("nested more than {} levels deep", kDeepest));
        open_.push_back(place(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
};

nlohmann::ordered_json toLibrary(const JsonValue& value) {
    if (const JsonValue::Array* elements = value.array()) {
        auto result = nlohmann::ordered_json::array();
        for (const JsonValue& element : *elements)
            result.push_back(toLibrary(element));
        return result;
    }
    if (const JsonValue::Object* members = value.object()) {
        auto result = nlohmann::ordered_json::object();
        for (const auto& [key, member] : *members)
            result[key] = toLibrary(member);
        return result;
    }
    return std::visit(
        [](const auto& scalar) -> nlohmann::ordered_json {
            if constexpr (std::is_constructible_v<nlohmann::ordered_json, decltype(scalar)>)
                return scalar;
            else
                return nullptr;
        },
        value.data);
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
    if (const Object* members = object())
        for (const auto& [name, member] : *members)
            if (name == key)
                return &member;
    return nullptr;
}

std::string_view JsonValue::kind() const {
    constexpr std::string_view kNames[] = {"null",     "true or false", "a whole number", "a whole number",
                                           "a number", "a string",      "a list",         "an object"};
    return kNames[data.index()];
}

std::string JsonValue::brief() const {
    constexpr std::size_t kLongest = 60;
    const std::string text = toLibrary(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

JsonValue parseJson(std::string_view text, std::string_view source) {
    Builder builder;
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
        if (builder.failureOffset == 0)
            throw Error(fmt::format("{}: {}", source, builder.failure.value_or("not JSON")));
        const std::size_t offset = std::min(builder.failureOffset - 1, text.size());
        const auto line =
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
        throw Error(fmt::format("{}: line {}, byte {}: not valid JSON: {}", source, line, offset,
                                builder.failure.value_or("unexpected text")));
    }
    return std::move(builder.root);
}

}  // namespace ballast
