// SPDX-License-Identifier: Apache-2.0
#include "core/base/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/random.h"

namespace ballast {
namespace {

/// The definition, without a table.
std::size_t distanceByDefinition(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty())
        return a.size() + b.size();
    if (a.front() == b.front())
        return distanceByDefinition(a.substr(1), b.substr(1));
    return 1 + std::min({distanceByDefinition(a.substr(1), b), distanceByDefinition(a, b.substr(1)),
                         distanceByDefinition(a.substr(1), b.substr(1))});
}

TEST(EditDistance, IsTheFewestEditsOnRandomShortTexts) {
    Random random(11);
    const auto text = [&] {
        std::string result(random.below(6), 'a');
        for (char& letter : result)
            letter = static_cast<char>('a' + random.below(3));
        return result;
    };
    for (int i = 0; i < 500; ++i) {
        const std::string a = text();
        const std::string b = text();
        EXPECT_EQ(editDistance(a, b), distanceByDefinition(a, b)) << a << " and " << b;
    }
}

TEST(Nearest, FindsTheKeyThatWasMeant) {
    constexpr std::array<std::string_view, 3> kKeys = {"strategy", "queues", "thresholds"};
    EXPECT_EQ(nearest("stratgy", kKeys), "strategy");
    EXPECT_EQ(nearest("queue", kKeys), "queues");
    EXPECT_EQ(nearest("x", {}), "");
}

}  // namespace
}  // namespace ballast
