// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/shard.h"

#include <cstddef>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/rank_shares.h"

namespace ballast {

std::int64_t shardTokens(const Shard& shard) {
    std::int64_t tokens = 0;
    for (const Slice& slice : shard)
        tokens += slice.tokens();
    return tokens;
}

std::int64_t shardingTokens(const Sharding& sharding) {
    std::int64_t tokens = 0;
    for (const Shard& shard : sharding.ranks)
        tokens += shardTokens(shard);
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

std::vector<ShardFigures> shardFigures(const Sharding& sharding, const CostModel& cost, int dp) {
    ExchangedTokens exchanged = exchangedTokens(sharding, cost);
    std::int64_t bytesPerToken = keyValueBytesPerToken(cost);
    std::vector<double> speeds = contextSpeeds(cost, static_cast<int>(sharding.ranks.size()), dp);
    std::vector<ShardFigures> figures;
    for (std::size_t i = 0; i < sharding.ranks.size(); ++i) {
        ShardFigures& rank = figures.emplace_back();
        rank.tokens = shardTokens(sharding.ranks[i]);
        for (const Slice& slice : sharding.ranks[i])
            rank.pairs += attentionPairs(slice.block());
        rank.keyValueIn = Bytes(exchanged.into(i) * bytesPerToken);
        rank.keyValueOut = Bytes(exchanged.outOf(i) * bytesPerToken);
        rank.latency = shardLatency(sharding.ranks[i], cost) / speeds[i];
    }
    return figures;
}

}  // namespace ballast
