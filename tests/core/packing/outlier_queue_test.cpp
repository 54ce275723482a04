// SPDX-License-Identifier: Apache-2.0
#include "core/packing/outlier_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

WeighedPiece pieceOf(std::int64_t document, std::int64_t length) {
    return {{document, 0, length, 0, document}, static_cast<double>(length)};
}

std::vector<std::int64_t> documentsOf(const std::vector<WeighedPiece>& pieces) {
    std::vector<std::int64_t> documents;
    for (const WeighedPiece& piece : pieces)
        documents.push_back(piece.piece.document);
    return documents;
}

TEST(OutlierQueues, TakeLengthsFromTheirLowestThresholdOn) {
    OutlierQueues queues({8, 12});
    EXPECT_FALSE(queues.isOutlier(7));
    EXPECT_TRUE(queues.isOutlier(8));
    EXPECT_TRUE(queues.isOutlier(1000));
}

TEST(OutlierQueues, WithoutThresholdsNothingIsAnOutlier) {
    EXPECT_FALSE(OutlierQueues({}).isOutlier(1 << 30));
}

TEST(OutlierQueues, ReleaseNothingBelowN) {
    OutlierQueues queues({8});
    queues.push(pieceOf(0, 9));
    queues.push(pieceOf(1, 9));
    std::vector<WeighedPiece> out;
    queues.releaseFull(3, out);
    EXPECT_THAT(out, IsEmpty());
    EXPECT_EQ(queues.size(), 2u);
    EXPECT_EQ(queues.tokens(), 18);
}

TEST(OutlierQueues, ReleaseExactlyNWhenTheyHoldN) {
    OutlierQueues queues({8});
    for (std::int64_t i = 0; i < 3; ++i)
        queues.push(pieceOf(i, 9));
    std::vector<WeighedPiece> out;
    queues.releaseFull(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(0, 1, 2));
    EXPECT_EQ(queues.size(), 0u);
    EXPECT_EQ(queues.tokens(), 0);
}

TEST(OutlierQueues, ReleaseTheOldestFirstAndOnlyOnceAStep) {
    OutlierQueues queues({8});
    // Neither the longest nor the newest leaves first, and seven pieces are not two releases of three.
    for (std::int64_t i = 0; i < 7; ++i)
        queues.push(pieceOf(i, i % 2 == 0 ? 9 : 15));
    std::vector<WeighedPiece> out;
    queues.releaseFull(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(0, 1, 2));
    out.clear();
    queues.releaseFull(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(3, 4, 5));
    EXPECT_EQ(queues.size(), 1u);
}

TEST(OutlierQueues, EachLevelWaitsForItsOwn) {
    OutlierQueues queues({8, 12});
    queues.push(pieceOf(0, 8));
    queues.push(pieceOf(1, 12));
    queues.push(pieceOf(2, 11));
    queues.push(pieceOf(3, 400));
    queues.push(pieceOf(4, 9));
    std::vector<WeighedPiece> out;
    queues.releaseFull(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(0, 2, 4));
    std::vector<Piece> left;
    queues.listPieces(left);
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0].document, 1);
    EXPECT_EQ(left[1].document, 3);
    EXPECT_EQ(queues.tokens(), 412);
}

TEST(OutlierQueues, DrainGivesAtMostNOfEachLevel) {
    OutlierQueues queues({8, 12});
    for (std::int64_t i = 0; i < 5; ++i)
        queues.push(pieceOf(i, 8));
    queues.push(pieceOf(5, 20));
    std::vector<WeighedPiece> out;
    queues.releaseUpTo(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(0, 1, 2, 5));
    out.clear();
    queues.releaseUpTo(3, out);
    EXPECT_THAT(documentsOf(out), ElementsAre(3, 4));
    EXPECT_EQ(queues.size(), 0u);
}

TEST(OutlierQueues, RefuseThresholdsThatDoNotAscend) {
    for (std::vector<std::int64_t> wrong : {std::vector<std::int64_t>{0}, {-5, 3}, {4, 4}, {8, 4}})
        EXPECT_THROW(checkThresholds(wrong), Error);
    EXPECT_NO_THROW(checkThresholds(std::vector<std::int64_t>{}));
    EXPECT_NO_THROW(checkThresholds(std::vector<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace ballast
