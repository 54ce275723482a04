// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/per_document_sharder.h"
#include "core/sharding/per_sequence_sharder.h"

namespace ballast {

/// Short pieces whole on one rank each, which costs no kernel tiles and, with the need-based exchange, no
/// keys and values on the way; long ones over all ranks as per-document does. Which are long, and who gets
/// what, is searched for the least shardingSeconds (mixed_search.h). Ranks hold equal tokens, to one, or
/// tokens in proportion to their speeds. Never worse by shardingSeconds than per-sequence and per-document:
/// where neither is beaten it returns the better one's slices, under its own name.
/// source: named as future work by WLB-LLM (OSDI 2025, section 5.3) and done by FlashCP (arXiv 2606.08476),
/// whose rule for the pieces that even the tokens out is not published; ours is in mixed_search.h.
class MixedSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more; cost must outlive the sharder
    MixedSharder(int ranks, const CostModel& cost);

  private:
    /// O(log(pieces) * pieces * ranks)
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    int ranks_;
    PerSequenceSharder perSequence_;
    PerDocumentSharder perDocument_;
    const CostModel* cost_;
};

}  // namespace ballast
