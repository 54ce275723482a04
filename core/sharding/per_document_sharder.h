// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/sharder.h"

namespace ballast {

/// 2*ranks chunks of every piece; rank r gets chunks r and 2*ranks-1-r of each. A remainder is dealt one
/// token a chunk by a cursor that starts at chunk 0 and goes on from piece to piece, so that rank totals
/// differ by at most one token without padding, and attention pairs by the remainders only.
///
/// Ranks of unequal speed get shares of every piece in proportion to their speeds instead (rank_shares.h),
/// again in two chunks that mirror each other, so that pairs are in the same proportion as tokens; rank
/// totals are then within two tokens of the exact shares.
/// source: WLB-LLM (OSDI 2025), section 5.2; the cursor over documents as in the authors' public code.
class PerDocumentSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more, all of one speed
    explicit PerDocumentSharder(int ranks) : ranks_(ranks) {}
    /// With the cluster's speeds; cost must outlive the sharder.
    PerDocumentSharder(int ranks, const CostModel& cost) : ranks_(ranks), cost_(&cost) {}

    /// The slowest rank's attention of one layer, forward and backward, as slowestRank of the sharding tells
    /// it, without making the slices. Gives up as soon as a rank is not below `limit`, and returns that
    /// rank's. O(pieces * ranks).
    Seconds slowestUnless(std::span<const Piece> pieces, int dp, Seconds limit) const;

  private:
    /// O(pieces * ranks)
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    int ranks_;
    const CostModel* cost_ = nullptr;
};

}  // namespace ballast
