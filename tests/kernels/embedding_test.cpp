// SPDX-License-Identifier: Apache-2.0
#include "kernels/embedding.h"

#include <gtest/gtest.h>

#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

constexpr std::int64_t kWidth = 5;
const std::vector<std::int64_t> kIds = {0, 7, 3, 3, 9, 4, 3};

TEST(Embedding, SumsOverTheRanksOfAVocabularyToTheWholeTablesRows) {
    const std::vector<float> table = randomFloats(10 * kWidth, 1);
    std::vector<float> sum(kIds.size() * kWidth, 0.0F);
    for (const VocabularyRange range : {VocabularyRange{0, 4}, {4, 4}, {4, 9}, {9, 10}}) {
        std::vector<float> part = notANumber(std::ssize(sum));
        embeddingForward(range, kWidth, kIds,
                         std::span(table).subspan(range.begin * kWidth, range.size() * kWidth), part);
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += part[i];
        }
    }
    for (std::size_t i = 0; i < sum.size(); ++i) {
        EXPECT_EQ(sum[i], table[kIds[i / kWidth] * kWidth + i % kWidth]);
    }
}

TEST(Embedding, GradientOfARowIsTheSumOverTheTokensThatUseIt) {
    const VocabularyRange range{3, 8};
    std::vector<float> outGradient;
    for (std::size_t i = 0; i < kIds.size() * kWidth; ++i) {
        outGradient.push_back(static_cast<float>(i));
    }
    std::vector<float> tableGradient(range.size() * kWidth, 100.0F);
    embeddingBackward(range, kWidth, kIds, outGradient, tableGradient);
    for (std::int64_t d = 0; d < kWidth; ++d) {
        const auto at = [&](std::int64_t token) { return static_cast<float>(token * kWidth + d); };
        EXPECT_EQ(tableGradient[0 * kWidth + d], 100.0F + at(2) + at(3) + at(6));
        EXPECT_EQ(tableGradient[1 * kWidth + d], 100.0F + at(5));
        EXPECT_EQ(tableGradient[2 * kWidth + d], 100.0F);
        EXPECT_EQ(tableGradient[4 * kWidth + d], 100.0F + at(1));
    }
}

}  // namespace
}  // namespace ballast::kernels
