// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/sharder.h"

namespace ballast {

/// 2*ranks chunks of the packed sequence, chunk i = tokens [i*S div 2*ranks, (i+1)*S div 2*ranks); rank r
/// gets chunks r and 2*ranks-1-r, so that a single document's work is even; document borders are ignored. A
/// chunk may be empty. source: WLB-LLM (OSDI 2025), section 3.1 (the baseline; also Llama 3 training).
class PerSequenceSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more
    explicit PerSequenceSharder(int ranks) : ranks_(ranks) {}

  private:
    /// O(pieces + ranks)
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    int ranks_;
};

}  // namespace ballast
