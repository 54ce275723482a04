// SPDX-License-Identifier: Apache-2.0
#include "core/packing/differencing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/base/random.h"

namespace ballast {
namespace {

std::vector<double> sumsOf(const std::vector<double>& works, std::size_t parts) {
    std::vector<double> sums(parts);
    const std::vector<std::int32_t> partOf = partitionByDifferencing(works, parts);
    for (std::size_t i = 0; i < works.size(); ++i)
        sums[static_cast<std::size_t>(partOf[i])] += works[i];
    std::sort(sums.begin(), sums.end(), std::greater<>());
    return sums;
}

struct PublishedPartition {
    bool quadratic;  ///< work 24576*L + L^2, else L
    std::size_t parts;
    std::vector<double> lengths;
    std::vector<double> sums;
};

/// Outputs of volcengine/verl, seqlen_balancing.py (Apache-2.0), parts of any size.
const std::vector<PublishedPartition> kVerl = {
    {true, 2, {5, 3, 2, 7, 4}, {270381, 245818}},
    {false,
     4,
     {1024, 1536, 1762, 1428, 2479,  5728,  3739, 8729, 15273, 6482,
      1726, 837,  8627, 9273, 17263, 18729, 6273, 8172, 8274,  37264},
     {41292, 41201, 41171, 40954}},
    {true,
     8,
     {3723, 1702, 2041, 5545,  244,  6230, 4321, 5113, 5775, 1921, 3327, 1522, 1539, 9088, 348,  1677,
      447,  3210, 517,  10054, 5197, 2502, 4878, 4356, 3562, 20,   4770, 1947, 1357, 2780, 4601, 3794},
     {408041173, 401814070, 401604994, 399825023, 399070757, 398226990, 397392719, 396820930}},
    {false,
     4,
     {960,  3575, 863,  713,  11414, 7030, 1514, 1062, 4659, 1808, 50479, 1287, 4338, 1796, 793,  7755,
      1149, 3750, 8612, 1299, 7957,  2933, 4072, 3653, 4421, 1377, 2168,  2091, 1130, 2376, 2214, 3447},
     {50479, 34397, 33910, 33909}},
    {true,
     4,
     {960,  3575, 863,  713,  11414, 7030, 1514, 1062, 4659, 1808, 50479, 1287, 4338, 1796, 793,  7755,
      1149, 3750, 8612, 1299, 7957,  2933, 4072, 3653, 4421, 1377, 2168,  2091, 1130, 2376, 2214, 3447},
     {3788701345, 1032386627, 1018351713, 1016140356}}};

TEST(Differencing, GivesTheSumsOfVerl) {
    for (const PublishedPartition& published : kVerl) {
        std::vector<double> works;
        for (double length : published.lengths)
            works.push_back(published.quadratic ? 24576 * length + length * length : length);
        EXPECT_EQ(sumsOf(works, published.parts), published.sums);
    }
}

TEST(Differencing, ClassicExampleOfTwoPartsEndsTwoApart) {
    EXPECT_EQ(sumsOf({8, 7, 6, 5, 4}, 2), (std::vector<double>{16, 14}));
}

TEST(Differencing, WorksForNothingAndForMorePartsThanNumbers) {
    EXPECT_EQ(sumsOf({}, 3), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(sumsOf({5, 2}, 4), (std::vector<double>{5, 2, 0, 0}));
}

TEST(Differencing, TheHeaviestPartIsWithinTheListSchedulingBound) {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<double> works;
        double total = 0;
        for (std::int64_t count = random.below(40) + 1; count > 0; --count) {
            works.push_back(static_cast<double>(random.below(1000)));
            total += works.back();
        }
        const std::size_t parts = 2 + static_cast<std::size_t>(random.below(5));
        const double bound =
            total / static_cast<double>(parts) + *std::max_element(works.begin(), works.end());
        EXPECT_LE(sumsOf(works, parts).front(), bound);
    }
}

}  // namespace
}  // namespace ballast
