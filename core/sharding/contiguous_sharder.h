// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/sharder.h"

namespace ballast {

/// The packed sequence in as many runs as there are ranks, run i = tokens [i*S div ranks, (i+1)*S div ranks):
/// no balancing at all, for reference. source: what the all-gather sharding of Llama 3 style libraries does
/// without mirroring (zhuzilin/ring-flash-attention, llama3_flash_attn_prepare_cu_seqlens).
class ContiguousSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more
    explicit ContiguousSharder(int ranks) : ranks_(ranks) {}

  private:
    /// O(pieces + ranks)
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    int ranks_;
};

}  // namespace ballast
