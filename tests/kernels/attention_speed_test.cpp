// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ctime>

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

/// Least CPU seconds of several calls: noise only ever adds.
template <typename Work>
double leastSeconds(const Work& work) {
    constexpr int kTries = 7;
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    double least = INFINITY;
    for (int i = 0; i < kTries; ++i) {
        const double begin = now();
        work();
        least = std::min(least, now() - begin);
    }
    return least;
}

TEST(AttentionSpeed, IsAtLeastHalfOfTheMatrixProductOnDocumentsOfTwoThousandTokens) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers slow our loops down and not those of the BLAS library";
#endif
    constexpr std::int64_t kSize = 512;
    const std::vector<float> a = randomFloats(kSize * kSize, 1);
    std::vector<float> c(a.size());
    const double product = leastSeconds([&] { matmul({.m = kSize, .n = kSize, .k = kSize}, a, a, c); });
    const double productRate = 2.0 * static_cast<double>(kSize * kSize * kSize) / product;

    for (const std::int64_t headDim : {64, 128}) {
        constexpr std::int64_t kTokens = 2048;
        const AttentionShape shape{2, 1, headDim, 0.1F};
        const std::vector<AttentionBlock> blocks = {{0, kTokens, 0, 0}};
        const std::vector<float> q = randomFloats(kTokens * 2 * headDim, 2);
        const std::vector<float> k = randomFloats(kTokens * headDim, 3);
        std::vector<float> out(q.size());
        std::vector<float> logSumExp(kTokens * 2);
        std::vector<float> qGradient(q.size());
        std::vector<float> kGradient(k.size());
        std::vector<float> vGradient(k.size());
        Scratch scratch;
        const double forward = leastSeconds([&] {
            attentionForward(shape, blocks, {q, k, k}, {out, logSumExp}, scratch);
        });
        const double backward = leastSeconds([&] {
            attentionBackward(shape, blocks, {q, k, k}, {out, logSumExp, q},
                              {qGradient, kGradient, vGradient}, scratch);
        });
        const double work = static_cast<double>(2 * headDim * attentionPairs(blocks));
        RecordProperty("forward_ratio_" + std::to_string(headDim),
                       std::to_string(4.0 * work / forward / productRate));
        EXPECT_GT(4.0 * work / forward, 0.5 * productRate) << headDim;
        EXPECT_GT(10.0 * work / backward, 0.5 * productRate) << headDim;
    }
}

TEST(AttentionSpeed, SkipsWhatTheMaskEmpties) {
    // Sixteen documents hold a sixteenth of the pairs of one that is as long as all of them.
    constexpr std::int64_t kTokens = 4096;
    const AttentionShape shape{1, 1, 32, 0.1F};
    std::vector<AttentionBlock> many;
    for (std::int64_t begin = 0; begin < kTokens; begin += kTokens / 16) {
        many.push_back({begin, kTokens / 16, 0, begin});
    }
    const std::vector<AttentionBlock> one = {{0, kTokens, 0, 0}};
    const std::vector<float> q = randomFloats(kTokens * 32, 1);
    std::vector<float> out(q.size());
    std::vector<float> logSumExp(kTokens);
    Scratch scratch;
    const auto seconds = [&](const std::vector<AttentionBlock>& blocks) {
        return leastSeconds([&] { attentionForward(shape, blocks, {q, q, q}, {out, logSumExp}, scratch); });
    };
    EXPECT_LT(seconds(many), 0.25 * seconds(one));
}

}  // namespace
}  // namespace ballast::kernels
