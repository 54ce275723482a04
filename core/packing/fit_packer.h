// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "core/packing/pool_packer.h"

namespace ballast {

/// `first-fit` and `best-fit`, decreasing: what NeMo and TRL users have. Bins are opened as they are needed
/// and close in groups of N, most attention pairs together, each group a step; the pieces of an incomplete
/// group are carried into the next batch. Fills windows well and leaves the work unbalanced. source:
/// planner.md section 4
class FitPacker : public Packer {
  public:
    using Rule = BinAssignment (*)(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits);

    /// Throws Error naming the key for options out of range. setup.cost must outlive the packer.
    FitPacker(const PackerSetup& setup, Rule rule);

    /// Throws Error (and changes nothing) when a piece alone is too long. O(pieces * log pieces).
    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    std::optional<PackedStep> drain() override;
    std::vector<Piece> waiting() const override;
    std::vector<std::string> notices() const override { return empty_.notices(); }

  private:
    /// Complete groups alone, or also an incomplete last one; what is left stays in `carried_`.
    std::vector<PackedStep> close(StepKind kind, bool incompleteToo);

    const CostModel* cost_;
    FixedLengthLimits limits_;
    Rule rule_;
    int dp_;
    int microBatchesPerRank_;
    std::vector<WeighedPiece> carried_;
    std::deque<PackedStep> ready_;  ///< packed while draining, not yet handed out
    std::int64_t nextStep_ = 0;
    EmptyMicroBatchTally empty_;
};

class FirstFitPacker final : public FitPacker {
  public:
    explicit FirstFitPacker(const PackerSetup& setup) : FitPacker(setup, assignFirstFit) {}
};

class BestFitPacker final : public FitPacker {
  public:
    explicit BestFitPacker(const PackerSetup& setup) : FitPacker(setup, assignBestFit) {}
};

}  // namespace ballast
