// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/mixed_sharder.h"

#include <array>
#include <utility>

#include "core/sharding/mixed_search.h"
#include "core/sharding/sharding_cost.h"

namespace ballast {

MixedSharder::MixedSharder(int ranks, const CostModel& cost)
    : ranks_(ranks), perSequence_(ranks), perDocument_(ranks, cost), cost_(&cost) {}

Sharding MixedSharder::split(std::span<const Piece> pieces, int dp) const {
    Sharding best = perSequence_.shard(pieces, dp);
    Seconds least = shardingSeconds(best, *cost_, dp);
    const auto consider = [&](Sharding candidate) {
        const Seconds seconds = shardingSeconds(candidate, *cost_, dp);
        if (seconds < least) {
            least = seconds;
            best = std::move(candidate);
        }
    };
    if (ranks_ > 1 && !pieces.empty()) {
        consider(perDocument_.shard(pieces, dp));
        consider(MixedSearch(pieces, *cost_, ranks_, dp).best());
    }
    best.strategy = "mixed";
    return best;
}

}  // namespace ballast
