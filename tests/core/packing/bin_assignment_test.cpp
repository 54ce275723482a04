// SPDX-License-Identifier: Apache-2.0
#include "core/packing/bin_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/random.h"

namespace ballast {
namespace {

std::vector<WeighedPiece> piecesOf(const std::vector<std::int64_t>& lengths) {
    std::vector<WeighedPiece> pieces;
    for (std::int64_t length : lengths) {
        const auto document = static_cast<std::int64_t>(pieces.size());
        pieces.push_back({{document, 0, length, 0, document}, static_cast<double>(length)});
    }
    return pieces;
}

std::vector<std::vector<std::int64_t>> documentsByBin(const std::vector<WeighedPiece>& pieces,
                                                      const BinAssignment& assignment) {
    std::vector<std::vector<std::int64_t>> bins;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto bin = static_cast<std::size_t>(assignment[i]);
        bins.resize(std::max(bins.size(), bin + 1));
        bins[bin].push_back(pieces[i].piece.document);
    }
    return bins;
}

struct PublishedBins {
    bool decreasing;
    std::int64_t capacity;
    std::vector<std::int64_t> lengths;
    std::vector<std::vector<std::int64_t>> bins;  ///< of document indices
};

/// Outputs of NVIDIA-NeMo/Megatron-Bridge, packing/algorithms.py (Apache-2.0).
const std::vector<PublishedBins> kMegatronBridge = {
    {false, 10, {5, 3, 2, 7, 4}, {{0, 1, 2}, {3}, {4}}},
    {true, 10, {5, 3, 2, 7, 4}, {{3, 1}, {0, 4}, {2}}},
    {true, 1200, {500, 600, 500, 400, 700}, {{4, 0}, {1, 2}, {3}}},
    {false,
     40960,
     {1024, 1536, 1762, 1428, 2479,  5728,  3739, 8729, 15273, 6482,
      1726, 837,  8627, 9273, 17263, 18729, 6273, 8172, 8274,  37264},
     {{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11}, {8, 12, 13, 16}, {14, 15}, {17, 18}, {19}}},
    {true,
     40960,
     {1024, 1536, 1762, 1428, 2479,  5728,  3739, 8729, 15273, 6482,
      1726, 837,  8627, 9273, 17263, 18729, 6273, 8172, 8274,  37264},
     {{19, 4, 0}, {15, 14, 6, 11}, {8, 13, 7, 9}, {12, 18, 17, 16, 5, 2, 10}, {1, 3}}},
    {true,
     131072,
     {3723, 1702, 2041, 5545,  244,  6230, 4321, 5113, 5775, 1921, 3327, 1522, 1539, 9088, 348,  1677,
      447,  3210, 517,  10054, 5197, 2502, 4878, 4356, 3562, 20,   4770, 1947, 1357, 2780, 4601, 3794},
     {{19, 13, 5,  8, 3,  20, 7, 22, 26, 30, 23, 6,  31, 0,  24, 10,
       17, 29, 21, 2, 27, 9,  1, 15, 12, 11, 28, 18, 16, 14, 4,  25}}},
    {false,
     65536,
     {960,  3575, 863,  713,  11414, 7030, 1514, 1062, 4659, 1808, 50479, 1287, 4338, 1796, 793,  7755,
      1149, 3750, 8612, 1299, 7957,  2933, 4072, 3653, 4421, 1377, 2168,  2091, 1130, 2376, 2214, 3447},
     {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 28},
      {10, 20, 21, 22},
      {23, 24, 25, 26, 27, 29, 30, 31}}}};

TEST(BinAssignment, FirstFitGivesTheBinsOfMegatronBridge) {
    for (const PublishedBins& published : kMegatronBridge) {
        std::vector<WeighedPiece> pieces = piecesOf(published.lengths);
        if (published.decreasing)
            sortLongestFirst(pieces);
        EXPECT_EQ(documentsByBin(pieces, assignFirstFit(pieces, {published.capacity, 1, 0})), published.bins);
    }
}

enum class Rule { FirstFitInOrder, FirstFit, BestFit, BestFitSplit };

struct PublishedFigures {
    const char* lengths;
    std::int64_t capacity;
    Rule rule;
    std::size_t bins;
    std::int64_t tokens;
    std::int64_t mostDocuments;
    double mostOverMeanPairs;
    double leastOverMeanPairs;
};

/// Exact counts of other programs' packers on data/ (README there), computed once from their rules.
const std::vector<PublishedFigures> kTable = {
    {"wlb-standin", 32768, Rule::FirstFitInOrder, 2178, 71253818, 18, 4.4560, 0.1550},
    {"wlb-standin", 32768, Rule::FirstFit, 2175, 71253818, 243, 4.4499, 0.0056},
    {"wlb-standin", 32768, Rule::BestFit, 2175, 71253818, 241, 4.4499, 0.0056},
    {"wlb-standin", 32768, Rule::BestFitSplit, 2423, 79381668, 221, 3.4340, 0.0053},
    {"wlb-standin", 65536, Rule::FirstFitInOrder, 1159, 75927577, 29, 5.1274, 0.2545},
    {"wlb-standin", 65536, Rule::FirstFit, 1159, 75927577, 413, 5.1274, 0.0051},
    {"wlb-standin", 65536, Rule::BestFit, 1159, 75927577, 412, 5.1274, 0.0051},
    {"wlb-standin", 65536, Rule::BestFitSplit, 1212, 79381668, 355, 4.6562, 0.0016},
    {"wlb-standin", 131072, Rule::FirstFitInOrder, 606, 79381668, 51, 6.0197, 0.1771},
    {"wlb-standin", 131072, Rule::FirstFit, 606, 79381668, 642, 6.0258, 0.0053},
    {"wlb-standin", 131072, Rule::BestFit, 606, 79381668, 641, 6.0258, 0.0053},
    {"wlb-standin", 131072, Rule::BestFitSplit, 606, 79381668, 641, 6.0258, 0.0053},
    {"prolong", 8192, Rule::FirstFitInOrder, 6776, 54249231, 7, 1.9666, 0.2616},
    {"prolong", 8192, Rule::FirstFit, 6664, 54249231, 12, 1.9341, 0.0350},
    {"prolong", 8192, Rule::BestFit, 6664, 54249231, 12, 1.9341, 0.0350},
    {"prolong", 8192, Rule::BestFitSplit, 7505, 61188168, 13, 1.8160, 0.0536},
    {"prolong", 65536, Rule::FirstFitInOrder, 923, 60227706, 37, 8.6718, 0.0279},
    {"prolong", 65536, Rule::FirstFit, 920, 60227706, 98, 8.6436, 0.0719},
    {"prolong", 65536, Rule::BestFit, 920, 60227706, 98, 8.6436, 0.0719},
    {"prolong", 65536, Rule::BestFitSplit, 935, 61188168, 99, 7.8952, 0.0411},
    {"prolong", 131072, Rule::FirstFitInOrder, 465, 60845633, 62, 13.9786, 0.3233},
    {"prolong", 131072, Rule::FirstFit, 465, 60845633, 193, 13.9786, 0.0296},
    {"prolong", 131072, Rule::BestFit, 465, 60845633, 193, 13.9786, 0.0296},
    {"prolong", 131072, Rule::BestFitSplit, 468, 61188168, 199, 13.3460, 0.0038}};

std::vector<std::int64_t> lengthsFrom(const std::string& name) {
    std::ifstream in(std::string(BALLAST_TEST_DATA "/core/packing/data/") + name + "-20000.txt");
    std::vector<std::int64_t> lengths;
    for (std::int64_t length = 0; in >> length;)
        lengths.push_back(length);
    return lengths;
}

std::vector<WeighedPiece> piecesFor(const PublishedFigures& row) {
    std::vector<std::int64_t> cut;
    for (std::int64_t length : lengthsFrom(row.lengths)) {
        for (; row.rule == Rule::BestFitSplit && length > row.capacity; length -= row.capacity)
            cut.push_back(row.capacity);
        cut.push_back(std::min(length, row.capacity));
    }
    std::vector<WeighedPiece> pieces = piecesOf(cut);
    if (row.rule != Rule::FirstFitInOrder)
        sortLongestFirst(pieces);
    return pieces;
}

TEST(BinAssignment, ReproducesTheCountsOfOtherPackersOnPublishedLengths) {
    for (const PublishedFigures& row : kTable) {
        SCOPED_TRACE(testing::Message()
                     << row.lengths << " " << row.capacity << " rule " << static_cast<int>(row.rule));
        const std::vector<WeighedPiece> pieces = piecesFor(row);
        const bool best = row.rule == Rule::BestFit || row.rule == Rule::BestFitSplit;
        const MicroBatchLimits limits{row.capacity, 1, 0};
        const BinAssignment assignment =
            best ? assignBestFit(pieces, limits) : assignFirstFit(pieces, limits);
        const std::vector<MicroBatch> bins =
            microBatchesOf(pieces, assignment, documentsByBin(pieces, assignment).size());
        ASSERT_EQ(bins.size(), row.bins);
        std::int64_t tokens = 0;
        std::size_t mostDocuments = 0;
        std::vector<double> pairs;
        for (const MicroBatch& bin : bins) {
            tokens += bin.tokens;
            mostDocuments = std::max(mostDocuments, bin.pieces.size());
            pairs.push_back(0);
            for (const Piece& piece : bin.pieces)
                pairs.back() += static_cast<double>(attentionPairs({piece.length(), 0}));
        }
        EXPECT_EQ(tokens, row.tokens);
        double mean = 0;
        for (double each : pairs)
            mean += each / static_cast<double>(pairs.size());
        EXPECT_NEAR(*std::max_element(pairs.begin(), pairs.end()) / mean, row.mostOverMeanPairs, 6e-5);
        EXPECT_EQ(static_cast<std::int64_t>(mostDocuments), row.mostDocuments);
        EXPECT_NEAR(*std::min_element(pairs.begin(), pairs.end()) / mean, row.leastOverMeanPairs, 6e-5);
    }
}

/// The rules by looking at every bin.
BinAssignment slowFit(const std::vector<WeighedPiece>& pieces, const MicroBatchLimits& limits, bool best) {
    std::vector<std::int64_t> tokens;
    std::vector<std::int64_t> documents;
    BinAssignment assignment;
    for (const WeighedPiece& piece : pieces) {
        std::size_t chosen = tokens.size();
        for (std::size_t bin = 0; bin < tokens.size(); ++bin)
            if (limits.takes(tokens[bin], documents[bin], piece.piece.length()) &&
                (chosen == tokens.size() || (best && tokens[bin] > tokens[chosen])))
                chosen = bin;
        if (chosen == tokens.size()) {
            tokens.push_back(0);
            documents.push_back(0);
        }
        tokens[chosen] += limits.alignedLength(piece.piece.length());
        ++documents[chosen];
        assignment.push_back(static_cast<std::int32_t>(chosen));
    }
    return assignment;
}

TEST(BinAssignment, FitsAsTheObviousSearchDoesWithAlignmentAndDocumentLimits) {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::int64_t> lengths;
        for (std::int64_t count = random.below(60) + 1; count > 0; --count)
            lengths.push_back(random.below(40) + 1);
        const MicroBatchLimits limits{48, round % 3 == 0 ? 8 : 1, round % 2 == 0 ? 4 : 0};
        const std::vector<WeighedPiece> pieces = piecesOf(lengths);
        EXPECT_EQ(assignFirstFit(pieces, limits), slowFit(pieces, limits, false));
        EXPECT_EQ(assignBestFit(pieces, limits), slowFit(pieces, limits, true));
    }
}

TEST(BinAssignment, HalfAWindowAndOneTokenEachTakesABinAPieceInWellUnderQuadraticTime) {
    const std::vector<WeighedPiece> pieces = piecesOf(std::vector<std::int64_t>(200000, 4097));
    EXPECT_EQ(assignFirstFit(pieces, {8192, 1, 0}).back(), 199999);
    EXPECT_EQ(assignBestFit(pieces, {8192, 1, 0}).back(), 199999);
}

}  // namespace
}  // namespace ballast
