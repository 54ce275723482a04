// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/sharding_cost.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/rank_shares.h"

namespace ballast {
namespace {

double bothDirections(std::span<const AttentionBlock> blocks, const CostModel& cost) {
    return (cost.attention(blocks, Direction::Forward) + cost.attention(blocks, Direction::Backward)).value();
}

}  // namespace

Seconds slowestRank(const Sharding& sharding, const CostModel& cost, int dp) {
    std::vector<double> speeds = contextSpeeds(cost, static_cast<int>(sharding.ranks.size()), dp);
    std::vector<AttentionBlock> blocks;
    double slowest = 0;
    for (std::size_t rank = 0; rank < sharding.ranks.size(); ++rank) {
        blocks.clear();
        for (const Slice& slice : sharding.ranks[rank])
            blocks.push_back(slice.block());
        slowest = std::max(slowest, bothDirections(blocks, cost) / speeds[rank]);
    }
    return Seconds(slowest);
}

Seconds communicationSeconds(const Sharding& sharding, const CostModel& cost, int dp) {
    if (sharding.ranks.size() <= 1)
        return Seconds(0);
    std::vector<int> group = contextGroup(cost, static_cast<int>(sharding.ranks.size()), dp);
    if (isNeedBased(cost))
        return neededExchangeSeconds(neededTokens(sharding), cost, group) * 3.0;
    Bytes keyValues(shardingTokens(sharding) * keyValueBytesPerToken(cost));
    return cost.collective(CollectiveOperation::AllGather, keyValues, group) * 2.0 +
           cost.collective(CollectiveOperation::ReduceScatter, keyValues, group);
}

Seconds shardingSeconds(const Sharding& sharding, const CostModel& cost, int dp) {
    return slowestRank(sharding, cost, dp) + communicationSeconds(sharding, cost, dp);
}

std::vector<int> contextGroup(const CostModel& cost, int ranks, int dp) {
    std::vector<int> group;
    for (int cp = 0; cp < ranks; ++cp)
        group.push_back(cost.layout().rankOf({0, cp, dp, 0}));
    return group;
}

SliceCost::SliceCost(const CostModel& cost) : cost_(&cost) {
    // The latency of a call is a sum over its slices and one launch, so two equal slices in one call instead
    // of two leave a launch out.
    const std::array<AttentionBlock, 2> two = {AttentionBlock{kTileQueries, 0},
                                               AttentionBlock{kTileQueries, 0}};
    launch_ = 2 * bothDirections(std::span(two).first(1), cost) - bothDirections(two, cost);
}

double SliceCost::operator()(AttentionBlock block) const {
    return bothDirections(std::span(&block, 1), *cost_) - launch_;
}

}  // namespace ballast
