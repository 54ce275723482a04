// SPDX-License-Identifier: Apache-2.0
#include "core/packing/solver_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "core/base/error.h"
#include "core/packing/integer_program.h"
#include "packing_setup.h"

namespace ballast::testing {
namespace {

/// The best by trying every assignment of every piece to every bin or none.
class BruteForce {
  public:
    BruteForce(const std::vector<std::int64_t>& lengths, std::size_t bins, std::int64_t window)
        : lengths_(lengths), window_(window), tokens_(bins), pairs_(bins) {
        tryFrom(0, 0);
    }
    BinFigures best;

  private:
    void tryFrom(std::size_t piece, std::int64_t placed) {
        if (piece == lengths_.size()) {
            const BinFigures found{placed, *std::max_element(pairs_.begin(), pairs_.end())};
            if (found.isBetterThan(best))
                best = found;
            return;
        }
        const std::int64_t length = lengths_[piece];
        tryFrom(piece + 1, placed);
        for (std::size_t bin = 0; bin < tokens_.size(); ++bin) {
            if (tokens_[bin] + length > window_)
                continue;
            tokens_[bin] += length;
            pairs_[bin] += length * (length + 1) / 2;
            tryFrom(piece + 1, placed + length);
            tokens_[bin] -= length;
            pairs_[bin] -= length * (length + 1) / 2;
        }
    }

    const std::vector<std::int64_t>& lengths_;
    std::int64_t window_;
    std::vector<std::int64_t> tokens_;
    std::vector<std::int64_t> pairs_;
};

BinFigures figuresOf(const PackedStep& step) {
    BinFigures figures;
    for (const MicroBatch& microBatch : step.microBatches) {
        std::int64_t pairs = 0;
        for (const Piece& piece : microBatch.pieces)
            pairs += piece.length() * (piece.length() + 1) / 2;
        figures.placedTokens += microBatch.tokens;
        figures.mostPairs = std::max(figures.mostPairs, pairs);
    }
    return figures;
}

/// Every multiset of 1 to `documents` lengths of 1 to `longest`.
void forEachMultiset(std::size_t documents, std::int64_t longest, std::vector<std::int64_t>& lengths,
                     const std::function<void()>& action) {
    if (!lengths.empty())
        action();
    if (lengths.size() == documents)
        return;
    for (std::int64_t length = lengths.empty() ? 1 : lengths.back(); length <= longest; ++length) {
        lengths.push_back(length);
        forEachMultiset(documents, longest, lengths, action);
        lengths.pop_back();
    }
}

TEST(SolverPacker, ReachesTheOptimumOfEverySmallSetAndNoFixedLengthPackerBeatsIt) {
    std::vector<std::int64_t> lengths;
    for (const int bins : {2, 3})
        forEachMultiset(6, 4, lengths, [&] {
            PackingCase given{.strategy = "solver", .window = 5, .microBatches = bins};
            const auto firstStep = [&](const char* strategy) {
                given.strategy = strategy;
                const Scenario scenario = scenarioOf(given);
                const CostModel cost = costOf(scenario);
                const std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
                const std::vector<PackedStep> steps = packer->pack(batchOf(lengths));
                return steps.empty() ? BinFigures{} : figuresOf(steps.front());
            };
            const BinFigures solved = firstStep("solver");
            const BinFigures best = BruteForce(lengths, static_cast<std::size_t>(bins), given.window).best;
            EXPECT_EQ(solved.placedTokens, best.placedTokens) << ::testing::PrintToString(lengths);
            EXPECT_EQ(solved.mostPairs, best.mostPairs) << ::testing::PrintToString(lengths);
            for (const char* other : {"greedy", "first-fit", "best-fit"})
                EXPECT_FALSE(firstStep(other).isBetterThan(solved)) << other;
        });
}

TEST(SolverPacker, StaysInsideItsTimeAndIsNeverWorseThanGreedyOnALargePool) {
    const std::vector<std::int64_t> lengths = randomLengths(4, 400, 4096);
    PackingCase given{.strategy = "solver", .window = 4096, .microBatches = 8};
    std::vector<std::int64_t> whole;
    for (std::int64_t length : lengths)
        if (length > 0)
            whole.push_back(std::min<std::int64_t>(length, 4096));
    const auto firstStep = [&](const char* strategy) {
        given.strategy = strategy;
        Scenario scenario = scenarioOf(given);
        scenario.packing.timeLimitSeconds = 0.5;
        const CostModel cost = costOf(scenario);
        return figuresOf(makePacker({scenario, cost, constantsOf(given)})->pack(batchOf(whole)).front());
    };
    EXPECT_FALSE(firstStep("greedy").isBetterThan(firstStep("solver")));
}

TEST(SolverPacker, SaysHowManyPoolsAreProven) {
    PackingCase given{.strategy = "solver", .window = 8, .microBatches = 2};
    const Scenario scenario = scenarioOf(given);
    const CostModel cost = costOf(scenario);
    const std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
    packer->pack(batchOf({8, 3, 3, 2}));
    EXPECT_THAT(packer->notices(), ::testing::Contains("solver: optimal for all 1 pools"));
}

TEST(SolverPacker, NamesThePackageWhenTheProgramIsMissing) {
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", "/nowhere", 1);
    PackingCase given{.strategy = "solver"};
    const Scenario scenario = scenarioOf(given);
    const CostModel cost = costOf(scenario);
    try {
        makePacker({scenario, cost, constantsOf(given)});
        ADD_FAILURE() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("coinor-cbc"));
    }
    ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace ballast::testing
