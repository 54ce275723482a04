// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/adaptive_sharder.h"

#include "core/sharding/sharding_cost.h"

namespace ballast {

Sharding AdaptiveSharder::split(std::span<const Piece> pieces, int dp) const {
    Sharding perSequence = perSequence_.shard(pieces, dp);
    Seconds slowest = slowestRank(perSequence, *cost_, dp);
    // Most often one look at one rank tells, so the slices of the loser are never made.
    if (perDocument_.slowestUnless(pieces, dp, slowest) < slowest)
        return perDocument_.shard(pieces, dp);
    return perSequence;
}

}  // namespace ballast
