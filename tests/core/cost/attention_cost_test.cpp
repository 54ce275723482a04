// SPDX-License-Identifier: Apache-2.0
#include "core/cost/attention_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace ballast {
namespace {

/// FlashAttention-2 on H100, head size 128, as fitted to the measured points (core/cost/README.md).
constexpr TileConstants kH100{1.152e-5, 0.65, 1.01e-7, 0.056, false};

std::int64_t pairsUnderTheMask(AttentionBlock block) {
    std::int64_t pairs = 0;
    for (std::int64_t query = 0; query < block.queries; ++query)
        for (std::int64_t key = 0; key < block.prefix + block.queries; ++key)
            pairs += key <= block.prefix + query;
    return pairs;
}

TileCount tilesOneByOne(AttentionBlock block) {
    TileCount count;
    count.tokens = block.queries;
    for (std::int64_t begin = 0; begin < block.queries; begin += 128) {
        const std::int64_t lastKey = block.prefix + std::min(begin + 128, block.queries);
        for (std::int64_t key = 0; key < lastKey; key += 64)
            ++count.tiles;
        ++count.blocks;
    }
    return count;
}

TEST(AttentionPairs, AreThoseOfTheMaskCountedOneByOne) {
    for (std::int64_t queries = 0; queries < 20; ++queries)
        for (std::int64_t prefix = 0; prefix < 20; ++prefix)
            EXPECT_EQ(attentionPairs({queries, prefix}), pairsUnderTheMask({queries, prefix}));
}

// Field case A10: packing must not let the second document see the first.
TEST(AttentionPairs, TwoDocumentsOf64Hold4160AndNotThe8256OfOneSequence) {
    EXPECT_EQ(2 * attentionPairs({64, 0}), 4160);
    EXPECT_EQ(attentionPairs({128, 0}), 8256);
}

// Field case B26: equal tokens are not equal work.
TEST(AttentionPairs, OneDocumentOf1024IsAboutTwiceTheWorkOfTwoOf512) {
    const double ratio =
        static_cast<double>(attentionPairs({1024, 0})) / static_cast<double>(2 * attentionPairs({512, 0}));
    EXPECT_NEAR(ratio, 2.0, 0.01);
    const Seconds one = tileSeconds(kH100, countTiles({1024, 0}), 32, false);
    const Seconds two = tileSeconds(kH100, countTiles({512, 0}), 32, false) * 2.0;
    // By the kernel's tiles: (72 + 0.65*8) tiles of 128x64 to 2*(20 + 0.65*4), and the same tokens.
    EXPECT_GT(one / two, 1.5);
    EXPECT_LT(one / two, 77.2 / 45.2);
}

// Field case B25: sums of squares stay exact above 2^24.
TEST(AttentionPairs, StayExactForManyLongDocuments) {
    std::int64_t pairs = 0;
    for (int document = 0; document < 64; ++document)
        pairs += attentionPairs({131071, 0});
    EXPECT_EQ(pairs, std::int64_t{64} * 131071 * 65536);
    EXPECT_EQ(attentionPairs({std::int64_t{1} << 31, 0}),
              (std::int64_t{1} << 30) * ((std::int64_t{1} << 31) + 1));
}

TEST(CountTiles, ClosedFormIsTheSumOverBlocks) {
    Random random(17);
    for (int i = 0; i < 3000; ++i) {
        const AttentionBlock block{static_cast<std::int64_t>(random.below(1000)),
                                   static_cast<std::int64_t>(random.below(1000))};
        const TileCount closed = countTiles(block);
        const TileCount counted = tilesOneByOne(block);
        ASSERT_EQ(closed.tiles, counted.tiles) << block.queries << " after " << block.prefix;
        ASSERT_EQ(closed.blocks, counted.blocks);
        ASSERT_EQ(closed.tokens, counted.tokens);
    }
    EXPECT_EQ(countTiles({0, 100}).tiles, 0);
}

TEST(TileSeconds, PredictMeasuredPackedDocumentsWithinFourPercentOnAverage) {
    std::ifstream file(std::string(BALLAST_TEST_DATA) +
                       "/core/cost/data/attention_h100_packed_documents.csv");
    ASSERT_TRUE(file);
    double errors = 0;
    double worst = 0;
    int points = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#' || line[0] == 'd')
            continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream fields(line);
        std::int64_t documents = 0, queries = 0, keys = 0, heads = 0;
        double milliseconds = 0;
        fields >> documents >> queries >> keys >> heads >> milliseconds;
        TileCount count;
        for (std::int64_t document = 0; document < documents; ++document)
            count += countTiles({queries, keys - queries});
        const double predicted = tileSeconds(kH100, count, static_cast<double>(heads), true).value() * 1e3;
        const double error = std::abs(predicted / milliseconds - 1);
        errors += error;
        worst = std::max(worst, error);
        ++points;
    }
    EXPECT_EQ(points, 254);
    EXPECT_LT(errors / points, 0.04);
    EXPECT_LT(worst, 0.15);
}

TEST(NearestCurve, IsTheOneOfTheClosestHeadSize) {
    std::vector<AttentionCurve> curves(3);
    curves[0].headDim = 32;
    curves[1].headDim = 64;
    curves[2].headDim = 128;
    EXPECT_EQ(nearestCurve(curves, 64).headDim, 64);
    EXPECT_EQ(nearestCurve(curves, 80).headDim, 64);
    EXPECT_EQ(nearestCurve(curves, 100).headDim, 128);
    EXPECT_EQ(nearestCurve(curves, 256).headDim, 128);
    const TileConstants half = scaledToHeadDim(kH100, 128, 64);
    EXPECT_DOUBLE_EQ(half.a, kH100.a / 2);
    EXPECT_DOUBLE_EQ(half.c, kH100.c / 2);
    EXPECT_DOUBLE_EQ(half.d, kH100.d);
}

}  // namespace
}  // namespace ballast
