// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/packing/outlier_queue.h"

namespace ballast {

/// `wlb`: micro-batches of variable length with delayed outliers. A micro-batch of short pieces may be longer
/// than the window, so that its linear work matches a long document's attention; long pieces wait until
/// every micro-batch of a step can have one.
/// source: WLB-LLM (OSDI 2025), Algorithm 1; planner.md section 5 says what the paper leaves open.
class WorkloadPacker final : public Packer {
  public:
    /// Throws Error naming the key for thresholds or lengths out of range. setup.cost must outlive the
    /// packer.
    explicit WorkloadPacker(const PackerSetup& setup);

    /// Throws Error (and changes nothing) when a piece is longer than max_tokens. O(D log D + D log N).
    std::vector<PackedStep> pack(const GlobalBatch& batch) override;
    std::optional<PackedStep> drain() override;
    std::vector<Piece> waiting() const override;
    std::vector<std::string> notices() const override { return empty_.notices(); }

  private:
    PackedStep fill(std::int64_t step, StepKind kind, std::vector<WeighedPiece> fresh);
    std::vector<MicroBatch> place(const std::vector<WeighedPiece>& fresh);

    const CostModel* cost_;
    MicroBatchLimits limits_;
    int dp_;
    int microBatchesPerRank_;
    OutlierQueues queues_;
    std::vector<WeighedPiece> remained_;
    std::int64_t nextStep_ = 0;
    EmptyMicroBatchTally empty_;
};

}  // namespace ballast
