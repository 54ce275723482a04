// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/packing/bin_assignment.h"

namespace ballast {

/// Fixed length: pools `packing.batches` global batches, puts their pieces into as many micro-batches as the
/// steps need, similar ones into the same step, the heaviest step first, and carries what fits nowhere into
/// the next pool. Which piece goes where is the strategy's.
class PoolPacker : public Packer {
  public:
    /// Throws Error naming the key for options out of range. setup.cost must outlive the packer.
    explicit PoolPacker(const PackerSetup& setup);

    /// Nothing until the pool is full, then a step a batch. Throws Error (and changes nothing) when a piece
    /// alone is too long.
    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    /// The steps of a pool that the source left unfinished, then carried pieces.
    std::optional<PackedStep> drain() override;
    std::vector<Piece> waiting() const override;
    std::vector<std::string> notices() const override { return empty_.notices(); }

  protected:
    /// pieces  of the pool, longest first
    virtual BinAssignment assign(std::span<const WeighedPiece> pieces, std::size_t bins) = 0;
    const MicroBatchLimits& limits() const { return limits_; }

  private:
    std::vector<PackedStep> packPool();
    std::vector<MicroBatch> fillBins(std::size_t bins);

    const CostModel* cost_;
    MicroBatchLimits limits_;
    std::string_view limitKey_;
    int dp_;
    int microBatchesPerRank_;
    std::size_t batches_;
    std::vector<WeighedPiece> pool_;  ///< carried pieces and those of the batches in `kinds_`
    std::vector<StepKind> kinds_;     ///< of the steps that the pool will give
    std::deque<PackedStep> ready_;    ///< packed while draining, not yet handed out
    std::optional<std::int64_t> nextStep_;
    EmptyMicroBatchTally empty_;
};

/// What bounds a micro-batch of fixed length: the window, or a lower packing.max_tokens; `key` names it.
struct FixedLengthLimits {
    MicroBatchLimits limits;
    std::string_view key;
};
FixedLengthLimits fixedLengthLimits(const PackerSetup& setup);

}  // namespace ballast
