// SPDX-License-Identifier: Apache-2.0
#include "core/packing/dealing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/random.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;

/// Micro-batches with these works, document i in the i-th; work 0 is an empty one.
std::vector<MicroBatch> withWorks(const std::vector<double>& works) {
    std::vector<MicroBatch> microBatches;
    for (double work : works) {
        MicroBatch& microBatch = microBatches.emplace_back();
        microBatch.work = work;
        if (work > 0)
            microBatch.pieces.push_back({static_cast<std::int64_t>(microBatches.size()) - 1, 0, 1, 0, 0});
    }
    return microBatches;
}

std::vector<double> worksOf(const std::vector<MicroBatch>& microBatches, int dp) {
    std::vector<double> works;
    for (const MicroBatch& microBatch : microBatches)
        if (microBatch.dp == dp)
            works.push_back(microBatch.work);
    return works;
}

TEST(Dealing, PutsTheLightestFirstAndTheOthersHeaviestFirst) {
    std::vector<MicroBatch> microBatches = withWorks({3, 9, 1, 5});
    dealMicroBatches(microBatches, 1, 4);
    EXPECT_THAT(worksOf(microBatches, 0), ElementsAre(1, 9, 5, 3));
}

TEST(Dealing, LeavesEmptyMicroBatchesToTheEnd) {
    std::vector<MicroBatch> microBatches = withWorks({0, 9, 1, 0, 5});
    dealMicroBatches(microBatches, 1, 5);
    EXPECT_THAT(worksOf(microBatches, 0), ElementsAre(1, 9, 5, 0, 0));
    microBatches = withWorks({0, 4, 0});
    dealMicroBatches(microBatches, 1, 3);
    EXPECT_THAT(worksOf(microBatches, 0), ElementsAre(4, 0, 0));
    microBatches = withWorks({0, 0});
    dealMicroBatches(microBatches, 2, 1);
    EXPECT_THAT(worksOf(microBatches, 1), ElementsAre(0));
}

TEST(Dealing, GivesTheNextHeaviestToTheRankOfLeastSum) {
    // 9 | 8, then 7 to the rank with 8, 6 to the rank with 9, which has least sum and is then full.
    std::vector<MicroBatch> microBatches = withWorks({6, 7, 8, 9});
    dealMicroBatches(microBatches, 2, 2);
    EXPECT_THAT(worksOf(microBatches, 0), ElementsAre(6, 9));
    EXPECT_THAT(worksOf(microBatches, 1), ElementsAre(7, 8));
}

TEST(Dealing, NeverGivesARankMoreThanItsShareHoweverLightItIs) {
    std::vector<MicroBatch> microBatches = withWorks({100, 1, 1, 1, 1, 1});
    dealMicroBatches(microBatches, 2, 3);
    EXPECT_THAT(worksOf(microBatches, 0), ElementsAre(1, 100, 1));
    EXPECT_THAT(worksOf(microBatches, 1), ElementsAre(1, 1, 1));
}

TEST(Dealing, BreaksTiesByTheOrderGivenAndTheLowestRank) {
    std::vector<MicroBatch> microBatches = withWorks({2, 2, 2, 2});
    dealMicroBatches(microBatches, 2, 2);
    std::vector<std::int64_t> documents;
    for (const MicroBatch& microBatch : microBatches)
        documents.push_back(microBatch.pieces[0].document);
    // Dealt 0 1 0 1; of equal ones the last dealt counts as the lightest.
    EXPECT_THAT(documents, ElementsAre(2, 0, 3, 1));
}

TEST(Dealing, KeepsEveryMicroBatchOnceAndNumbersThemWithoutGaps) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        int dp = 1 + static_cast<int>(random.below(5));
        int perRank = 1 + static_cast<int>(random.below(6));
        std::vector<double> works;
        for (int i = 0; i < dp * perRank; ++i)
            works.push_back(static_cast<double>(random.below(20)));
        std::vector<MicroBatch> microBatches = withWorks(works);
        dealMicroBatches(microBatches, dp, perRank);
        ASSERT_EQ(microBatches.size(), works.size());
        double sum = 0;
        for (std::size_t i = 0; i < microBatches.size(); ++i) {
            EXPECT_EQ(microBatches[i].dp, static_cast<int>(i) / perRank);
            EXPECT_EQ(microBatches[i].index, static_cast<int>(i) % perRank);
            sum += microBatches[i].work;
        }
        EXPECT_EQ(sum, std::accumulate(works.begin(), works.end(), 0.0));
    }
}

}  // namespace
}  // namespace ballast
