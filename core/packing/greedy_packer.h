// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/packing/pool_packer.h"

namespace ballast {

/// `greedy`: longest first into the micro-batch of least attention pairs that still fits the window.
/// source: WLB-LLM (OSDI 2025), section 3.2 (Fixed-4D is batches = 1); planner.md section 4.
class GreedyPacker final : public PoolPacker {
  public:
    using PoolPacker::PoolPacker;

  protected:
    BinAssignment assign(std::span<const WeighedPiece> pieces, std::size_t bins) override {
        return assignToLeastPairs(pieces, limits(), bins);
    }
};

}  // namespace ballast
