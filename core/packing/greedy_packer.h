// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "core/packing/weighed_piece.h"

namespace ballast {

/// Fixed length: pools `packing.batches` global batches and puts their pieces, longest first, into the
/// micro-batch of least attention pairs that still fits the window. Similar micro-batches go to the same
/// step, heaviest step first. A piece that fits nowhere is carried into the next pool.
/// source: WLB-LLM (OSDI 2025), section 3.2 (Fixed-4D is batches = 1); planner.md section 4.
class GreedyPacker final : public Packer {
  public:
    /// Throws Error naming the key for options out of range. setup.cost must outlive the packer.
    explicit GreedyPacker(const PackerSetup& setup);

    /// Nothing until the pool is full, then a step a batch. Throws Error (and changes nothing) when a piece
    /// alone is too long.
    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    /// The steps of a pool that the source left unfinished, then carried pieces.
    std::optional<PackedStep> drain() override;
    std::vector<Piece> waiting() const override;
    std::vector<std::string> notices() const override { return empty_.notices(); }

  private:
    std::vector<PackedStep> packPool();
    /// Fills `bins` micro-batches from the pool and keeps what fits nowhere; heaviest first.
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

}  // namespace ballast
