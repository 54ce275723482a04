// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/sharding/shard.h"

namespace ballast {

/// Tokens of one micro-batch -> context-parallel ranks, planner.md section 7. Stateless and safe to use from
/// threads; together the shards cover every token exactly once.
class Sharder {
  public:
    virtual ~Sharder() = default;

    /// `dp` says which group of ranks gets the micro-batch: groups may differ in speed.
    Sharding shard(std::span<const Piece> pieces, int dp = 0) const { return split(pieces, dp); }

  private:
    virtual Sharding split(std::span<const Piece> pieces, int dp) const = 0;
};

/// `per-sequence`, `per-document`, `striped`, `contiguous`, `mixed`, `adaptive` (the first two's faster one;
/// its result names the strategy chosen). per-document and mixed give ranks of unequal speed unequal shares
/// (rank_shares.h); the others are equal by definition. `cost` must outlive the sharder. Throws Error naming
/// the key for an unknown strategy.
std::unique_ptr<Sharder> makeSharder(std::string_view strategy, int ranks, const CostModel& cost);

std::vector<std::string_view> sharderNames();

/// Every strategy side by side, for `ballast shard` and the sharding view; `chosen` and `oracle` index
/// `strategies`. The oracle is the strategy of least shardingSeconds (sharding_cost.h), ties to the first.
struct ShardingChoice {
    std::vector<Sharding> strategies;
    std::vector<std::vector<ShardFigures>> figures;
    std::size_t chosen = 0;
    std::size_t oracle = 0;
};
ShardingChoice compareShardings(std::span<const Piece> pieces, std::string_view strategy, int ranks,
                                const CostModel& cost, int dp = 0);

}  // namespace ballast
