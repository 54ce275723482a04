// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cost/cost_model.h"
#include "core/workload/document.h"

namespace ballast {

/// Consecutive tokens [begin, end) of a document on one context-parallel rank; positions and attention start
/// at pieceBegin.
struct Slice {
    std::int64_t document = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t pieceBegin = 0;
    std::int64_t pieceEnd = 0;

    std::int64_t tokens() const { return end - begin; }
    AttentionBlock block() const { return {end - begin, begin - pieceBegin}; }
    bool operator==(const Slice&) const = default;
};

/// Slices of one rank in the order in which they lie in its activations.
using Shard = std::vector<Slice>;

/// One micro-batch split over the context-parallel ranks.
struct Sharding {
    std::string strategy;
    std::vector<Shard> ranks;

    bool operator==(const Sharding&) const = default;
};

/// What a person compares strategies by, one rank; bytes of one layer, forward, K and V, of one tp rank.
struct ShardFigures {
    std::int64_t tokens = 0;
    std::int64_t pairs = 0;
    Bytes keyValueIn;
    Bytes keyValueOut;
    Seconds latency;  ///< attention of one layer, forward and backward, at this rank's speed
};

std::int64_t shardTokens(const Shard& shard);
std::int64_t shardingTokens(const Sharding& sharding);
std::vector<AttentionBlock> attentionBlocks(const Shard& shard);
/// Attention of one layer on one rank of speed 1, forward and backward; 0 for an empty shard.
Seconds shardLatency(const Shard& shard, const CostModel& cost);
/// One a rank. Bytes of the scenario's exchange (key_value_exchange.h): in = tokens received from other
/// ranks, out = own tokens times their receivers, so that the sums over ranks agree. `dp` says whose speeds
/// count.
std::vector<ShardFigures> shardFigures(const Sharding& sharding, const CostModel& cost, int dp = 0);

}  // namespace ballast
