// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/per_document_sharder.h"
#include "core/sharding/per_sequence_sharder.h"

namespace ballast {

/// Per micro-batch the one of per-sequence and per-document whose slowest rank is faster, ties to
/// per-sequence: many short slices waste kernel tiles, uneven pairs waste ranks. The result names the
/// strategy chosen. Looks at attention alone, as the paper does. source: WLB-LLM (OSDI 2025), section 5.3.
class AdaptiveSharder final : public Sharder {
  public:
    /// cost must outlive the sharder
    AdaptiveSharder(int ranks, const CostModel& cost)
        : perSequence_(ranks), perDocument_(ranks, cost), cost_(&cost) {}

  private:
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    PerSequenceSharder perSequence_;
    PerDocumentSharder perDocument_;
    const CostModel* cost_;
};

}  // namespace ballast
