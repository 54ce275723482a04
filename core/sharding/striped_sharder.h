// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/sharder.h"

namespace ballast {

/// Tokens of one stripe: as many as the attention kernel's tile of queries has, so that a stripe wastes none.
inline constexpr std::int64_t kStripeTokens = kTileQueries;

/// Blocks of 128 tokens of the packed sequence, block j to rank j mod ranks; document borders are ignored,
/// the last block may be short. Totals differ by up to 128 tokens, and work is even for documents of many
/// stripes. source: striped attention (Brandon et al., arXiv 2311.09431), there with blocks of one token.
class StripedSharder final : public Sharder {
  public:
    /// ranks  context-parallel degree, 1 or more
    explicit StripedSharder(int ranks) : ranks_(ranks) {}

  private:
    /// O(pieces + tokens / 128)
    Sharding split(std::span<const Piece> pieces, int dp) const override;

    int ranks_;
};

}  // namespace ballast
