// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/cost_model.h"

namespace ballast {

/// Relative speed of each context-parallel rank of a dp rank: that of the slowest of its tp ranks and stages,
/// since the tp ranks of a group wait for each other and a micro-batch is cut once for all stages. All 1
/// where the cluster states no gpu_speed.
std::vector<double> contextSpeeds(const CostModel& cost, int ranks, int dp);

/// Whether all ranks are equally fast, so that shares differ by rounding alone.
bool areEqual(std::span<const double> speeds);

/// `tokens` in whole shares proportional to speed, each at most one token from the exact one: largest
/// remainder, ties to the lowest rank. source: proportional patches of STADI (arXiv 2509.04719).
std::vector<std::int64_t> proportionalShares(std::int64_t tokens, std::span<const double> speeds);

/// Deals piece after piece in shares proportional to speed; what rounding took from a rank in one piece it
/// gets in a later one.
class ShareDealer {
  public:
    explicit ShareDealer(std::span<const double> speeds);

    /// Shares of the next piece, by rank. O(ranks log ranks). Valid until the next call.
    std::span<const std::int64_t> deal(std::int64_t tokens);

  private:
    std::vector<double> weight_;
    std::vector<double> credit_;
    std::vector<std::int64_t> share_;
    std::vector<std::size_t> order_;
};

}  // namespace ballast
