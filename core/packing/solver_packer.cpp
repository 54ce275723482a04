// SPDX-License-Identifier: Apache-2.0
#include "core/packing/solver_packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/packing/integer_program.h"

namespace ballast {
namespace {

/// An answer this near its bound is taken as the best.
constexpr double kGoodEnough = 1e-4;

/// No placement of these tokens has fewer pairs in its heaviest bin: all pieces placed, the heaviest bin
/// holds at least the mean, and the longest piece.
double leastMostPairs(std::span<const WeighedPiece> pieces, std::size_t bins) {
    double total = 0;
    double longest = 0;
    for (const WeighedPiece& piece : pieces) {
        const auto pairs = static_cast<double>(attentionPairs({piece.piece.length(), 0}));
        total += pairs;
        longest = std::max(longest, pairs);
    }
    return std::max(longest, total / static_cast<double>(bins));
}

class Deadline {
  public:
    explicit Deadline(double seconds)
        : end_(Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
    double secondsLeft() const {
        return std::max(0.001, std::chrono::duration<double>(end_ - Clock::now()).count());
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point end_;
};

}  // namespace

SolverPacker::SolverPacker(const PackerSetup& setup)
    : PoolPacker(setup), timeLimitSeconds_(setup.scenario.packing.timeLimitSeconds) {
    if (!findSolver())
        throw Error("packing.strategy=solver needs the program cbc; install the package coinor-cbc");
}

BinAssignment SolverPacker::assign(std::span<const WeighedPiece> pieces, std::size_t bins) {
    ++pools_;
    BinAssignment best = assignToLeastPairs(pieces, limits(), bins);
    BinFigures figures = binFigures(pieces, best, bins);
    const Deadline deadline(timeLimitSeconds_);
    const auto improve = [&](std::optional<std::int64_t> placed) {
        const std::optional<ProgramAnswer> answer =
            solve({pieces, limits(), bins, placed, best}, deadline.secondsLeft());
        if (!answer)
            return false;
        const BinFigures found = binFigures(pieces, answer->assignment, bins);
        if (found.isBetterThan(figures)) {
            best = answer->assignment;
            figures = found;
        }
        return answer->proven;
    };
    const std::int64_t all = tokensOf(pieces);
    bool proven = true;
    if (figures.placedTokens < all)
        proven = improve(std::nullopt);
    const bool allPlaced = figures.placedTokens == all;
    const double bound = allPlaced ? leastMostPairs(pieces, bins) : 0;
    if (static_cast<double>(figures.mostPairs) > bound * (1 + kGoodEnough))
        proven = improve(figures.placedTokens) && proven;
    proven = proven || (allPlaced && static_cast<double>(figures.mostPairs) <= bound * (1 + kGoodEnough));
    if (!proven) {
        ++unproven_;
        if (bound > 0)
            widestGap_ = std::max(widestGap_, static_cast<double>(figures.mostPairs) / bound - 1);
    }
    return best;
}

std::vector<std::string> SolverPacker::notices() const {
    std::vector<std::string> notices = PoolPacker::notices();
    if (pools_ == 0)
        return notices;
    notices.push_back(
        unproven_ == 0
            ? fmt::format("solver: optimal for all {} pools", pools_)
            : fmt::format(
                  "solver: optimal for {} of {} pools; the others ended at packing.time_limit_s={}, at most "
                  "{:.2f} % over the bound",
                  pools_ - unproven_, pools_, timeLimitSeconds_, 100 * widestGap_));
    return notices;
}

}  // namespace ballast
