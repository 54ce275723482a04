// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/sharding/shard.h"

namespace ballast {

/// Largest latency over the ranks: attention of one layer, forward and backward, launches included, each
/// rank's divided by its speed (contextSpeeds).
Seconds slowestRank(const Sharding& sharding, const CostModel& cost, int dp = 0);

/// What the scenario's exchange of keys and values takes in one layer: gathered in the forward and again in
/// the backward, then their gradients scattered. An all-gather takes the same time however the tokens are
/// sharded. 0 for one rank.
Seconds communicationSeconds(const Sharding& sharding, const CostModel& cost, int dp = 0);

/// What strategies are compared by (planner.md section 7): slowestRank + communicationSeconds.
Seconds shardingSeconds(const Sharding& sharding, const CostModel& cost, int dp = 0);

/// The ranks of the first stage that exchange the keys and values of a micro-batch, by cp rank.
std::vector<int> contextGroup(const CostModel& cost, int ranks, int dp);

/// Attention of slices one by one: the seconds of a rank are the sum over its slices and `launch()` once.
class SliceCost {
  public:
    explicit SliceCost(const CostModel& cost);

    /// Forward and backward of one layer without launches, at speed 1.
    double operator()(AttentionBlock block) const;
    double launch() const { return launch_; }

  private:
    const CostModel* cost_;
    double launch_;
};

}  // namespace ballast
