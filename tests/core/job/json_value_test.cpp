// SPDX-License-Identifier: Apache-2.0
#include "core/job/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace ballast {
namespace {

TEST(JsonValue, TellsWholeNumbersFromOthersUpToTheEndsOf64Bits) {
    const JsonValue value = parseJson("[9223372036854775807, 18446744073709551615, -1, 1.0, 1e2]", "numbers");
    const JsonValue::Array& elements = *value.array();
    EXPECT_EQ(std::get<std::int64_t>(elements[0].data), INT64_MAX);
    EXPECT_EQ(std::get<std::uint64_t>(elements[1].data), UINT64_MAX);
    EXPECT_EQ(std::get<std::int64_t>(elements[2].data), -1);
    EXPECT_EQ(std::get<double>(elements[3].data), 1.0);
    EXPECT_EQ(std::get<double>(elements[4].data), 100.0);
}

TEST(JsonValue, KeepsMembersInTheirOrder) {
    const JsonValue value = parseJson(R"({"z":{"b":[1,{"c":null}]},"a":true})", "order");
    EXPECT_EQ(value.object()->at(0).first, "z");
    EXPECT_EQ(value.brief(), R"({"z":{"b":[1,{"c":null}]},"a":true})");
    EXPECT_EQ(value.find("missing"), nullptr);
}

TEST(JsonValue, HostileNestingAndRepetitionAreRefused) {
    EXPECT_THROW(parseJson(std::string(1 << 20, '['), "deep"), Error);
    EXPECT_THROW(parseJson(R"({"a":1,"b":2,"a":3})", "twice"), Error);
    std::string many = "{";
    for (int key = 0; key < 5000; ++key)
        many += "\"" + std::to_string(key) + "\":0,";
    many.back() = '}';
    EXPECT_THROW(parseJson(many, "many"), Error);
    EXPECT_NO_THROW(parseJson(std::string(60, '[') + std::string(60, ']'), "nested"));
}

}  // namespace
}  // namespace ballast
