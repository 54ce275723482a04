// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/adaptive_sharder.h"

#include <algorithm>

namespace ballast {

Sharding AdaptiveSharder::shard(std::span<const Piece> pieces) const {
    Sharding perSequence = perSequence_.shard(pieces);
    Sharding perDocument = perDocument_.shard(pieces);
    return slowestRank(perDocument, *cost_) < slowestRank(perSequence, *cost_) ? perDocument : perSequence;
}

Seconds slowestRank(const Sharding& sharding, const CostModel& cost) {
    Seconds slowest;
    for (const Shard& shard : sharding.ranks)
        slowest = std::max(slowest, shardLatency(shard, cost));
    return slowest;
}

}  // namespace ballast
