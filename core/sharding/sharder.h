// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/sharding/shard.h"

namespace ballast {

/// Tokens of one micro-batch -> context-parallel ranks, planner.md section 7. Stateless; together the shards
/// cover every token exactly once.
class Sharder {
  public:
    virtual ~Sharder() = default;

    virtual Sharding shard(std::span<const Piece> pieces) const = 0;
};

/// `per-sequence`, `per-document`, `adaptive` (the one with the smaller max-over-ranks latency; its result
/// names the strategy chosen). Throws Error naming the key for an unknown or unbuilt strategy.
std::unique_ptr<Sharder> makeSharder(std::string_view strategy, int ranks, const CostModel& cost);

std::vector<std::string_view> sharderNames();

/// Every strategy side by side, for `ballast shard` and the sharding view; `chosen` and `oracle` index
/// `strategies`.
struct ShardingChoice {
    std::vector<Sharding> strategies;
    std::vector<std::vector<ShardFigures>> figures;
    std::size_t chosen = 0;
    std::size_t oracle = 0;
};
ShardingChoice compareShardings(std::span<const Piece> pieces, std::string_view strategy, int ranks,
                                const CostModel& cost);

}  // namespace ballast
