// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/shard.h"

#include <algorithm>
#include <cstddef>

namespace ballast {

std::int64_t shardTokens(const Shard& shard) {
    std::int64_t tokens = 0;
    for (const Slice& slice : shard)
        tokens += slice.tokens();
    return tokens;
}

std::vector<AttentionBlock> attentionBlocks(const Shard& shard) {
    std::vector<AttentionBlock> blocks;
    blocks.reserve(shard.size());
    for (const Slice& slice : shard)
        blocks.push_back(slice.block());
    return blocks;
}

Seconds shardLatency(const Shard& shard, const CostModel& cost) {
    std::vector<AttentionBlock> blocks = attentionBlocks(shard);
    return cost.attention(blocks, Direction::Forward) + cost.attention(blocks, Direction::Backward);
}

std::vector<ShardFigures> shardFigures(const Sharding& sharding, const CostModel& cost) {
    std::int64_t total = 0;
    for (const Shard& shard : sharding.ranks)
        total += shardTokens(shard);
    std::int64_t headsPerRank = std::max<std::int64_t>(cost.model().kvHeads / cost.layout().tp, 1);
    std::int64_t bytesPerToken = 2 * headsPerRank * cost.model().headDim * cost.activationBytes();
    auto receivers = static_cast<std::int64_t>(sharding.ranks.size()) - 1;

    std::vector<ShardFigures> figures;
    for (const Shard& shard : sharding.ranks) {
        ShardFigures& rank = figures.emplace_back();
        rank.tokens = shardTokens(shard);
        for (const AttentionBlock& block : attentionBlocks(shard))
            rank.pairs += attentionPairs(block);
        rank.keyValueIn = Bytes((total - rank.tokens) * bytesPerToken);
        rank.keyValueOut = Bytes(rank.tokens * receivers * bytesPerToken);
        rank.latency = shardLatency(shard, cost);
    }
    return figures;
}

}  // namespace ballast
