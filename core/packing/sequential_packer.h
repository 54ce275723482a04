// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/packing/weighed_piece.h"

namespace ballast {

/// Window j of a global batch as it comes is micro-batch j div dp of dp rank j mod dp: what loaders do
/// (Plain-4D of WLB-LLM, OSDI 2025). Carries nothing over, so there is nothing to drain.
class SequentialPacker final : public Packer {
  public:
    /// Throws Error naming the key for what whole windows cannot honour: lengths.cut=none, packing.align,
    /// packing.max_documents, packing.max_tokens below the window. setup.cost must outlive the packer.
    explicit SequentialPacker(const PackerSetup& setup);

    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    std::optional<PackedStep> drain() override { return std::nullopt; }
    std::vector<Piece> waiting() const override { return {}; }
    std::vector<std::string> notices() const override { return empty_.notices(); }

  private:
    const CostModel* cost_;
    std::int64_t window_;
    int dp_;
    int microBatchesPerRank_;
    EmptyMicroBatchTally empty_;
};

}  // namespace ballast
