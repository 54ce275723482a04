// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention_reference.h"
#include "tests/kernels/numbers.h"

namespace ballast::kernels {
namespace {

constexpr double kTolerance = 2e-6;
/// Gradients of queries and keys are differences of nearly equal sums where a document is short.
constexpr double kGradientTolerance = 1e-5;

/// Inputs of one call, its results, and rows that no slice covers, which must stay as they are.
struct Case {
    AttentionShape shape;
    std::vector<AttentionBlock> blocks;
    std::int64_t tokens = 0;
    std::int64_t kvTokens = 0;
    std::vector<float> q, k, v, outGradient;
    std::vector<float> out, logSumExp, qGradient, kGradient, vGradient;

    Case(AttentionShape wanted, std::vector<AttentionBlock> slices, float spread = 1.0F)
        : shape(wanted), blocks(std::move(slices)) {
        shape.scale = 1.0F / std::sqrt(static_cast<float>(shape.headDim));
        for (const AttentionBlock& block : blocks) {
            tokens = std::max(tokens, block.queryOffset + block.queries);
            kvTokens = std::max(kvTokens, block.keyOffset + block.prefix + block.queries);
        }
        const std::int64_t queryFloats = tokens * shape.heads * shape.headDim;
        const std::int64_t keyFloats = kvTokens * shape.kvHeads * shape.headDim;
        q = randomFloats(queryFloats, 1, spread);
        k = randomFloats(keyFloats, 2, spread);
        v = randomFloats(keyFloats, 3);
        outGradient = randomFloats(queryFloats, 4);
    }

    void run(Scratch& scratch) {
        out.assign(q.size(), 0.0F);
        logSumExp.assign(q.size() / shape.headDim, 0.0F);
        qGradient.assign(q.size(), 0.0F);
        kGradient.assign(k.size(), 0.0F);
        vGradient.assign(v.size(), 0.0F);
        attentionForward(shape, blocks, {q, k, v}, {out, logSumExp}, scratch);
        scratch.fill(std::numeric_limits<float>::quiet_NaN());
        attentionBackward(shape, blocks, {q, k, v}, {out, logSumExp, outGradient},
                          {qGradient, kGradient, vGradient}, scratch);
    }

    [[nodiscard]] ReferenceAttention reference() const {
        ReferenceAttention expected{widen(q), widen(k), widen(v), {}, {}, {}, {}, {}};
        expected.forward(shape, blocks);
        expected.backward(shape, blocks, widen(outGradient));
        return expected;
    }
};

/// Scratch that holds NaN wherever the kernel could look, large enough for the case.
Scratch poisoned() {
    constexpr std::size_t kEnough = 1U << 21U;
    Scratch scratch;
    scratch.take(kEnough);
    scratch.fill(std::numeric_limits<float>::quiet_NaN());
    return scratch;
}

void expectAsReference(Case& run) {
    Scratch scratch = poisoned();
    run.run(scratch);
    const ReferenceAttention expected = run.reference();
    EXPECT_LT(relativeError(run.out, expected.out), kTolerance);
    EXPECT_LT(relativeError(run.logSumExp, expected.logSumExp), kTolerance);
    EXPECT_LT(relativeError(run.qGradient, expected.qGradient), kGradientTolerance);
    EXPECT_LT(relativeError(run.kGradient, expected.kGradient), kGradientTolerance);
    EXPECT_LT(relativeError(run.vGradient, expected.vGradient), kTolerance);
}

class Attention : public EveryInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Cpu, Attention, testing::ValuesIn(allInstructionSets()), instructionSetName);

TEST_P(Attention, ReferenceGradientsAreTheSlopesOfTheReferenceForward) {
    Case small({2, 1, 3, 1.0F}, {{0, 3, 2, 0}, {3, 2, 0, 5}});
    ReferenceAttention expected = small.reference();
    const auto loss = [&] {
        expected.forward(small.shape, small.blocks);
        return dot(expected.out, small.outGradient);
    };
    const auto expectClose = [](const std::vector<double>& a, const std::vector<double>& b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_NEAR(a[i], b[i], 1e-8);
        }
    };
    expectClose(slopes(expected.q, loss), expected.qGradient);
    expectClose(slopes(expected.k, loss), expected.kGradient);
    expectClose(slopes(expected.v, loss), expected.vGradient);
}

TEST_P(Attention, OfOneDocumentEqualsThePlainDefinitionForEveryHeadSize) {
    for (const std::int64_t headDim : {1, 3, 8, 16, 20, 32, 64, 80, 128}) {
        SCOPED_TRACE(headDim);
        Case run({2, 2, headDim, 1.0F}, {{0, 150, 0, 0}});
        expectAsReference(run);
    }
}

TEST_P(Attention, OfEveryLengthAroundTheTilesEqualsThePlainDefinition) {
    for (const std::int64_t length :
         {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 191, 193, 257}) {
        SCOPED_TRACE(length);
        Case run({1, 1, 16, 1.0F}, {{0, length, 0, 0}});
        expectAsReference(run);
    }
}

TEST_P(Attention, OfSlicesWithAPrefixEqualsThePlainDefinition) {
    for (const std::int64_t prefix : {1, 63, 64, 65, 130, 300}) {
        for (const std::int64_t queries : {1, 5, 64, 140}) {
            SCOPED_TRACE(testing::Message() << prefix << " + " << queries);
            Case run({2, 1, 16, 1.0F}, {{0, queries, prefix, 0}});
            expectAsReference(run);
        }
    }
}

TEST_P(Attention, OfAHostileListOfSlicesEqualsThePlainDefinition) {
    // Empty slices, one-token pieces, two slices of one piece, keys out of order, rows that belong to no
    // slice.
    Case run({4, 2, 24, 1.0F}, {{0, 0, 0, 0},
                                {0, 1, 0, 900},
                                {3, 70, 30, 100},
                                {80, 70, 330, 100},
                                {150, 0, 40, 0},
                                {150, 1, 99, 600},
                                {151, 129, 1, 700},
                                {280, 1, 0, 899},
                                {290, 64, 0, 0}});
    expectAsReference(run);
}

TEST_P(Attention, OfThousandsOfOneTokenDocumentsReturnsTheirValues) {
    std::vector<AttentionBlock> blocks;
    for (std::int64_t i = 0; i < 2000; ++i) {
        blocks.push_back({i, 1, 0, i});
    }
    Case run({1, 1, 8, 1.0F}, blocks);
    Scratch scratch = poisoned();
    run.run(scratch);
    EXPECT_LT(relativeError(run.out, widen(run.v)), 1e-7);
    EXPECT_LT(relativeError(run.vGradient, widen(run.outGradient)), 1e-7);
    EXPECT_LT(relativeError(run.qGradient, std::vector<double>(run.q.size(), 0.0)), 1e-4);
}

TEST_P(Attention, WithGroupedHeadsEqualsAttentionWithRepeatedHeads) {
    for (const std::int64_t kvHeads : {1, 2, 3, 6}) {
        SCOPED_TRACE(kvHeads);
        Case run({6, kvHeads, 16, 1.0F}, {{0, 100, 20, 0}, {100, 40, 0, 120}});
        expectAsReference(run);
    }
}

TEST_P(Attention, StaysExactWhereScoresAreLargeAndTheMaximumMovesFromTileToTile) {
    Case run({1, 1, 16, 1.0F}, {{0, 400, 0, 0}}, 6.0F);
    Scratch scratch = poisoned();
    run.run(scratch);
    const ReferenceAttention expected = run.reference();
    EXPECT_LT(relativeError(run.out, expected.out), 2e-5);
    EXPECT_LT(relativeError(run.logSumExp, expected.logSumExp), kTolerance);
    EXPECT_LT(relativeError(run.kGradient, expected.kGradient), 2e-5);
}

TEST_P(Attention, OfADocumentIsTheSameWhateverItIsPackedWith) {
    const AttentionShape shape{2, 1, 32, 0.2F};
    Case alone(shape, {{0, 200, 0, 0}});
    Case packed(shape, {{0, 77, 0, 0}, {77, 200, 0, 77}, {277, 300, 0, 277}});
    std::copy(alone.q.begin(), alone.q.end(), packed.q.begin() + 77 * 64);
    std::copy(alone.k.begin(), alone.k.end(), packed.k.begin() + 77 * 32);
    std::copy(alone.v.begin(), alone.v.end(), packed.v.begin() + 77 * 32);
    Scratch scratch = poisoned();
    alone.run(scratch);
    packed.run(scratch);
    for (std::size_t i = 0; i < alone.out.size(); ++i) {
        ASSERT_NEAR(alone.out[i], packed.out[i + 77 * 64], 1e-6);
    }
}

TEST_P(Attention, WritesOnlyRowsThatASliceCovers) {
    Case run({1, 1, 16, 1.0F}, {{10, 20, 0, 5}});
    Scratch scratch = poisoned();
    run.out.assign(run.q.size(), 7.0F);
    run.logSumExp.assign(run.q.size() / 16, 7.0F);
    attentionForward(run.shape, run.blocks, {run.q, run.k, run.v}, {run.out, run.logSumExp}, scratch);
    for (std::size_t i = 0; i < 160; ++i) {
        EXPECT_EQ(run.out[i], 7.0F);
    }
    EXPECT_EQ(run.logSumExp[9], 7.0F);
    EXPECT_NE(run.logSumExp[10], 7.0F);
}

TEST_P(Attention, AddsToTheGradientsOfKeysAndValuesAndOverwritesThoseOfQueries) {
    Case run({2, 1, 16, 1.0F}, {{0, 90, 0, 0}});
    Scratch scratch = poisoned();
    run.run(scratch);
    std::vector<float> q = notANumber(std::ssize(run.q));
    std::vector<float> k = run.kGradient;
    std::vector<float> v = run.vGradient;
    attentionBackward(run.shape, run.blocks, {run.q, run.k, run.v}, {run.out, run.logSumExp, run.outGradient},
                      {q, k, v}, scratch);
    for (std::size_t i = 0; i < k.size(); ++i) {
        EXPECT_FLOAT_EQ(k[i], 2.0F * run.kGradient[i]);
        EXPECT_FLOAT_EQ(v[i], 2.0F * run.vGradient[i]);
    }
    EXPECT_EQ(q, run.qGradient);
}

TEST_P(Attention, ShowsANotANumberInAKeyToEveryLaterQueryAndToNoEarlierOne) {
    Case run({1, 1, 16, 1.0F}, {{0, 200, 0, 0}});
    run.k[100 * 16 + 3] = std::numeric_limits<float>::quiet_NaN();
    Scratch scratch = poisoned();
    run.run(scratch);
    for (std::int64_t query = 0; query < 200; ++query) {
        EXPECT_EQ(std::isnan(run.out[query * 16]), query >= 100) << query;
    }
}

TEST(AttentionPairs, CountsWhatTheMaskLetsThrough) {
    const std::vector<AttentionBlock> blocks = {{0, 3, 0, 0}, {3, 2, 10, 3}, {5, 0, 9, 0}};
    EXPECT_EQ(attentionPairs(blocks), 1 + 2 + 3 + 11 + 12);
}

}  // namespace
}  // namespace ballast::kernels
