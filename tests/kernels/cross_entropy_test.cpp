// SPDX-License-Identifier: Apache-2.0
#include "kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

constexpr std::int64_t kVocabulary = 37;

double plainLoss(const std::vector<double>& logits, const std::vector<std::int64_t>& targets) {
    double loss = 0.0;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        if (targets[t] == kNoTarget) {
            continue;
        }
        double sum = 0.0;
        for (std::int64_t i = 0; i < kVocabulary; ++i) {
            sum += std::exp(logits[t * kVocabulary + i]);
        }
        loss += std::log(sum) - logits[t * kVocabulary + targets[t]];
    }
    return loss;
}

/// The four steps with the all-reduces done by hand over the given ranks.
struct SplitCrossEntropy {
    std::vector<VocabularyRange> ranges;
    std::vector<std::vector<float>> logits;  ///< a rank's columns; after run() their gradient
    double loss = 0.0;

    SplitCrossEntropy(std::vector<VocabularyRange> ranks, const std::vector<float>& whole)
        : ranges(std::move(ranks)) {
        for (const VocabularyRange range : ranges) {
            logits.emplace_back();
            for (std::size_t row = 0; row < whole.size(); row += kVocabulary) {
                logits.back().insert(logits.back().end(), whole.begin() + row + range.begin,
                                     whole.begin() + row + range.end);
            }
        }
    }

    void run(const std::vector<std::int64_t>& targets, float scale) {
        const std::size_t tokens = targets.size();
        std::vector<float> maximum(tokens, -INFINITY);
        std::vector<float> sumExp(tokens, 0.0F);
        std::vector<float> targetLogit(tokens, 0.0F);
        for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
            std::vector<float> part = notANumber(tokens);
            crossEntropyMaximum(ranges[rank], logits[rank], part);
            std::ranges::transform(part, maximum, maximum.begin(),
                                   [](float a, float b) { return std::max(a, b); });
        }
        const CrossEntropyRows rows{targets, maximum};
        for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
            std::vector<float> sumPart = notANumber(tokens);
            std::vector<float> targetPart = notANumber(tokens);
            crossEntropySums(ranges[rank], rows, logits[rank], sumPart, targetPart);
            std::ranges::transform(sumPart, sumExp, sumExp.begin(), std::plus<>());
            std::ranges::transform(targetPart, targetLogit, targetLogit.begin(), std::plus<>());
        }
        loss = crossEntropyLoss(rows, sumExp, targetLogit);
        for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
            crossEntropyGradient(ranges[rank], rows, sumExp, scale, logits[rank]);
        }
    }
};

class CrossEntropy : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Cpu, CrossEntropy, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(CrossEntropy, EqualsItsDefinitionAndItsGradientIsItsSlopeHoweverTheVocabularyIsSplit) {
    const std::vector<float> whole = randomFloats(6 * kVocabulary, 1, 2.0F);
    const std::vector<std::int64_t> targets = {0, 36, kNoTarget, 17, 18, kNoTarget};
    std::vector<double> wide = widen(whole);
    const std::vector<double> slope = slopes(wide, [&] { return plainLoss(wide, targets); });
    const std::vector<std::vector<VocabularyRange>> splits = {
        {{0, 37}}, {{0, 18}, {18, 37}}, {{0, 1}, {1, 1}, {1, 20}, {20, 37}}};
    for (const std::vector<VocabularyRange>& split : splits) {
        SplitCrossEntropy run(split, whole);
        run.run(targets, 0.25F);
        EXPECT_NEAR(run.loss, plainLoss(widen(whole), targets), 1e-5);
        for (std::size_t rank = 0; rank < split.size(); ++rank) {
            for (std::size_t i = 0; i < run.logits[rank].size(); ++i) {
                const std::size_t token = i / split[rank].size();
                const std::size_t column = split[rank].begin + i % split[rank].size();
                EXPECT_NEAR(run.logits[rank][i], 0.25 * slope[token * kVocabulary + column], 1e-6);
            }
        }
    }
}

TEST_P(CrossEntropy, GivesATokenWithoutTargetNoLossAndAGradientOfZero) {
    SplitCrossEntropy run({{0, kVocabulary}}, randomFloats(2 * kVocabulary, 1));
    run.run({kNoTarget, kNoTarget}, 1.0F);
    EXPECT_EQ(run.loss, 0.0);
    EXPECT_EQ(run.logits[0], std::vector<float>(2 * kVocabulary, 0.0F));
}

TEST_P(CrossEntropy, StaysExactForHugeLogits) {
    std::vector<float> whole(kVocabulary, -1e4F);
    whole[3] = 1e4F;
    whole[5] = 1e4F;
    SplitCrossEntropy run({{0, 4}, {4, kVocabulary}}, whole);
    run.run({5}, 1.0F);
    EXPECT_NEAR(run.loss, std::log(2.0), 1e-7);
    EXPECT_FLOAT_EQ(run.logits[0][3], 0.5F);
    EXPECT_FLOAT_EQ(run.logits[1][1], -0.5F);
}

}  // namespace
}  // namespace ballast::kernels
