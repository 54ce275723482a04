// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/packing/weighed_piece.h"

namespace ballast {

/// `karmarkar-karp`: variable length, largest differencing over the pieces' work, what trainers of
/// reinforcement learning use. A micro-batch over max_tokens (or max_documents) gives its shortest pieces to
/// the one with most room, else they are carried into the next step. source: differencing.h; planner.md
/// section 4
class DifferencingPacker final : public Packer {
  public:
    /// Throws Error naming the key for options out of range. setup.cost must outlive the packer.
    explicit DifferencingPacker(const PackerSetup& setup);

    /// Throws Error (and changes nothing) when a piece is longer than max_tokens.
    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    std::optional<PackedStep> drain() override;
    std::vector<Piece> waiting() const override;
    std::vector<std::string> notices() const override { return empty_.notices(); }

  private:
    PackedStep fill(std::int64_t step, StepKind kind, std::vector<WeighedPiece> pieces);

    const CostModel* cost_;
    MicroBatchLimits limits_;
    int dp_;
    int microBatchesPerRank_;
    std::vector<WeighedPiece> carried_;
    std::int64_t nextStep_ = 0;
    EmptyMicroBatchTally empty_;
};

}  // namespace ballast
