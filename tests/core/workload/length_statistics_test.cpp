// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/random.h"
#include "tests/core/workload/length_list.h"

namespace ballast {
namespace {

std::vector<std::int64_t> randomLengths(int count, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int64_t> lengths;
    for (int document = 0; document < count; ++document)
        lengths.push_back(
            static_cast<std::int64_t>(random.below(1 + (std::uint64_t{1} << random.below(14)))));
    return lengths;
}

/// Least length that at least `percent` of the documents do not exceed, by trying each.
std::int64_t percentileByTrying(std::vector<std::int64_t> lengths, double percent) {
    std::sort(lengths.begin(), lengths.end());
    for (std::size_t index = 0; index < lengths.size(); ++index) {
        if (static_cast<double>(index + 1) * 100 >= percent * static_cast<double>(lengths.size()) - 1e-9)
            return lengths[index];
    }
    return lengths.back();
}

TEST(LengthStatistics, AgreeWithCountingOneByOne) {
    for (const int count : {1, 2, 3, 10, 99, 1000, 4321}) {
        const std::vector<std::int64_t> lengths = randomLengths(count, static_cast<std::uint64_t>(count));
        const LengthStatistics statistics = lengthStatistics(LengthList(lengths), 1000);
        std::int64_t tokens = 0, squares = 0, pairs = 0, overlong = 0, overlongTokens = 0;
        for (const std::int64_t length : lengths) {
            tokens += length;
            squares += length * length;
            for (std::int64_t query = 0; query < length; ++query)
                pairs += query + 1;
            overlong += length > 1000;
            overlongTokens += length > 1000 ? length : 0;
        }
        EXPECT_EQ(statistics.documents, count);
        EXPECT_EQ(statistics.tokens, tokens);
        EXPECT_EQ(statistics.empty, std::count(lengths.begin(), lengths.end(), 0));
        EXPECT_EQ(statistics.maximum, *std::max_element(lengths.begin(), lengths.end()));
        EXPECT_DOUBLE_EQ(statistics.mean, static_cast<double>(tokens) / count);
        if (tokens > 0) {
            EXPECT_DOUBLE_EQ(statistics.tokenWeightedMean,
                             static_cast<double>(squares) / static_cast<double>(tokens));
        }
        EXPECT_EQ(statistics.overlongDocuments, overlong);
        EXPECT_EQ(statistics.overlongTokens, overlongTokens);
        EXPECT_DOUBLE_EQ(statistics.attentionWork, static_cast<double>(pairs));
        ASSERT_EQ(statistics.percentiles.size(), 9u);
        for (const auto& [percent, length] : statistics.percentiles)
            EXPECT_EQ(length, percentileByTrying(lengths, percent)) << percent << " % of " << count;
        for (const LengthBucket& bucket : statistics.buckets) {
            const auto inside = [&](std::int64_t length) {
                return length >= bucket.from && length < bucket.to;
            };
            EXPECT_EQ(bucket.documents, std::count_if(lengths.begin(), lengths.end(), inside));
            EXPECT_GT(bucket.documents, 0);
        }
        const auto bucketed =
            std::accumulate(statistics.buckets.begin(), statistics.buckets.end(), std::int64_t{0},
                            [](std::int64_t sum, const LengthBucket& b) { return sum + b.tokens; });
        EXPECT_EQ(bucketed, tokens);
    }
}

TEST(LengthStatistics, OfNothingAreZero) {
    const LengthStatistics statistics = lengthStatistics(LengthList({}), 16);
    EXPECT_EQ(statistics.documents, 0);
    EXPECT_EQ(statistics.tokens, 0);
    EXPECT_TRUE(statistics.percentiles.empty());
    EXPECT_TRUE(statistics.buckets.empty());
    EXPECT_EQ(attentionShareOfLongest(LengthList({}), 0.01), 0);
    EXPECT_THAT(describeLengths(statistics, 16), ::testing::ElementsAre("no documents"));
}

TEST(LengthStatistics, KeepEmptyDocumentsWithNoWork) {
    const LengthStatistics statistics = lengthStatistics(LengthList({0, 1, 0, 1}), 16);
    EXPECT_EQ(statistics.documents, 4);
    EXPECT_EQ(statistics.empty, 2);
    EXPECT_DOUBLE_EQ(statistics.attentionWork, 2);
    ASSERT_EQ(statistics.buckets.size(), 2u);
    EXPECT_EQ(statistics.buckets[0].documents, 2);
    EXPECT_EQ(statistics.buckets[0].attentionWork, 0);
}

TEST(LengthStatistics, AttentionShareOfTheLongestIsTheirPairs) {
    // 4*5/2 = 10 of 10 + 3 + 1 + 1 pairs.
    EXPECT_DOUBLE_EQ(attentionShareOfLongest(LengthList({1, 4, 1, 2}), 0.25), 10.0 / 15);
    EXPECT_DOUBLE_EQ(attentionShareOfLongest(LengthList({1, 4, 1, 2}), 0.26), 13.0 / 15);
    EXPECT_DOUBLE_EQ(attentionShareOfLongest(LengthList({1, 4, 1, 2}), 1), 1);
    EXPECT_DOUBLE_EQ(attentionShareOfLongest(LengthList({1, 4, 1, 2}), 0), 0);
}

TEST(LengthStatistics, SaysWhatTheLongOnesHold) {
    const LengthStatistics statistics = lengthStatistics(LengthList({2048, 1024, 1024, 8192, 0}), 4096);
    const auto sentences = describeLengths(statistics, 4096);
    ASSERT_EQ(sentences.size(), 3u);
    EXPECT_THAT(sentences[0],
                ::testing::HasSubstr("documents of 2K tokens and more: 40 % of documents, 83.3 % of tokens"));
    EXPECT_THAT(
        sentences[1],
        ::testing::HasSubstr(
            "longer than the window of 4K tokens: 1 documents (20 %), which hold 66.7 % of the tokens"));
    EXPECT_THAT(sentences[2], ::testing::HasSubstr("1 empty documents"));
}

}  // namespace
}  // namespace ballast
