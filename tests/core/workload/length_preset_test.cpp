// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/workload/length_statistics.h"
#include "tests/core/workload/error_sentence.h"

namespace ballast {
namespace {

std::unique_ptr<LengthSource> preset(const std::string& name, std::uint64_t seed = 1) {
    const std::vector<std::string> source = {name};
    return openLengthSource(source, seed);
}

TEST(LengthPreset, IsAPureFunctionOfSeedAndDocument) {
    const auto first = preset("wlb-128k", 1);
    const auto again = preset("wlb-128k", 1);
    const auto other = preset("wlb-128k", 2);
    int same = 0;
    for (std::int64_t document = 999; document >= 0; --document) {
        EXPECT_EQ(first->length(document), again->length(document));
        same += first->length(document) == other->length(document);
    }
    EXPECT_LT(same, 20);
    EXPECT_EQ(first->documents(), std::nullopt);
}

TEST(LengthPreset, DrawsTheBinsOfThePublishedHistogram) {
    // WLB-LLM (arXiv 2503.17924), figure 3: 20 bins of 6553.6 tokens.
    const std::vector<double> counts = {96784, 1158, 315, 154, 80, 70, 47, 35, 25, 20,
                                        18,    30,   27,  15,  33, 27, 17, 14, 12, 107};
    const auto source = preset("wlb-128k");
    EXPECT_EQ(source->sampleDocuments(),
              static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), 0.0)));
    constexpr std::int64_t kTimes = 8;
    std::vector<double> drawn(counts.size());
    double firstBinTokens = 0;
    double whole = 0;
    double lastBin = 0;
    for (std::int64_t document = 0; document < kTimes * source->sampleDocuments(); ++document) {
        const std::int64_t length = source->length(document);
        ASSERT_GE(length, 1);
        ASSERT_LE(length, 131072);
        const auto bin =
            std::min<std::size_t>(static_cast<std::size_t>(static_cast<double>(length - 1) / 6553.6), 19);
        ++drawn[bin];
        firstBinTokens += bin == 0 ? static_cast<double>(length) : 0;
        lastBin += bin == 19;
        whole += length == 131072;
    }
    for (std::size_t bin = 0; bin < counts.size(); ++bin)
        EXPECT_NEAR(drawn[bin], kTimes * counts[bin], 4) << bin;  // whole tokens blur the borders
    // An exponential of mean 700 cut at 6553.6 has mean 700 - 6553.6 / (e^(6553.6/700) - 1); + 0.5 from whole
    // tokens.
    EXPECT_NEAR(firstBinTokens / drawn[0], 700 - 6553.6 / std::expm1(6553.6 / 700) + 0.5, 5);
    EXPECT_NEAR(whole / lastBin, 0.8, 0.07);
}

TEST(LengthPreset, SpreadsItsLongDocumentsOverTheWholeSample) {
    const auto source = preset("wlb-128k");
    constexpr int kParts = 10;
    std::vector<double> longOnes(kParts);
    for (std::int64_t document = 0; document < source->sampleDocuments(); ++document)
        longOnes[static_cast<std::size_t>(document * kParts / source->sampleDocuments())] +=
            source->length(document) > 6554;
    // 2204 documents beyond the first bin, so about 220 in each tenth: five standard deviations.
    for (const double count : longOnes)
        EXPECT_NEAR(count, 220, 75);
}

TEST(LengthPreset, HoldsThreeQuartersOfItsTokensBelowHalfAWindow) {
    // The paper: over 75 % of tokens. In closed form from counts and shapes 75.7 %, and a token-weighted mean
    // of 33.5K.
    const LengthStatistics statistics = lengthStatistics(*preset("wlb-128k"), 131072);
    double below = 0;
    for (const LengthBucket& bucket : statistics.buckets)
        below += bucket.to <= 65536 ? static_cast<double>(bucket.tokens) : 0;
    EXPECT_NEAR(below / static_cast<double>(statistics.tokens), 0.757, 0.006);
    EXPECT_NEAR(statistics.tokenWeightedMean, 33454, 500);
    EXPECT_EQ(statistics.overlongDocuments, 0);
}

TEST(LengthPreset, MilderOneAgreesWithTheStandInItWasCountedFrom) {
    // hao-ai-lab/DistCA, dist_wlbllm.json: mean 3961.8, 99th percentile 26058, token-weighted mean 18.9K.
    const LengthStatistics statistics = lengthStatistics(*preset("wlb-128k-mild"), 131072);
    EXPECT_NEAR(statistics.mean, 3961.8, 80);
    EXPECT_NEAR(statistics.tokenWeightedMean, 18900, 900);
    EXPECT_LE(statistics.maximum, 125000);
    const LengthStatistics skewed = lengthStatistics(*preset("wlb-128k"), 131072);
    EXPECT_LT(statistics.tokenWeightedMean / statistics.mean, skewed.tokenWeightedMean / skewed.mean);
}

TEST(LengthPreset, ForShortWindowsIsTheSameShape) {
    const LengthStatistics small = lengthStatistics(*preset("wlb-4k"), 4096);
    const LengthStatistics large = lengthStatistics(*preset("wlb-128k"), 131072);
    EXPECT_NEAR(small.tokenWeightedMean * 32 / large.tokenWeightedMean, 1, 0.06);
    EXPECT_EQ(small.maximum, 4096);
}

TEST(LengthPreset, EveryPresetHasASourceAndOpens) {
    EXPECT_THAT(lengthPresetNames(), ::testing::IsSupersetOf({"wlb-128k", "wlb-128k-mild"}));
    for (const std::string& name : lengthPresetNames())
        EXPECT_THAT(preset(name)->description(), ::testing::HasSubstr(name + " (simulated after "));
}

TEST(LengthPreset, RefusesBrokenFilesByKey) {
    const auto refusal = [](std::string_view text) {
        return errorSentence([&] { LengthPreset(text, "x.json", 1); });
    };
    EXPECT_THAT(refusal("[]"), ::testing::HasSubstr("x.json: expected a JSON object"));
    EXPECT_THAT(refusal("{\"name\": 1}"), ::testing::HasSubstr("x.json"));
    EXPECT_THAT(refusal(R"({"name":"x","source":"y","bin_width":10,"counts":[-1],
                            "first_bin_exponential_mean":null,"last_bin_share_at_end":0})"),
                ::testing::HasSubstr("counts"));
    EXPECT_THAT(refusal(R"({"name":"x","source":"y","bin_width":0,"counts":[1],
                            "first_bin_exponential_mean":null,"last_bin_share_at_end":0})"),
                ::testing::HasSubstr("bin_width"));
}

}  // namespace
}  // namespace ballast
