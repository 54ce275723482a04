// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/rank_shares.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "core/base/check.h"

namespace ballast {

std::vector<double> contextSpeeds(const CostModel& cost, int ranks, int dp) {
    std::vector<double> speeds(static_cast<std::size_t>(ranks), 1.0);
    const Layout& layout = cost.layout();
    // A sharder may be asked about another degree than the layout's: then no rank has a place there.
    if (cost.cluster().gpuSpeed.empty() || ranks != layout.cp)
        return speeds;
    for (int cp = 0; cp < ranks; ++cp) {
        double slowest = cost.speed(layout.rankOf({0, cp, dp, 0}));
        for (int pp = 0; pp < layout.pp; ++pp)
            for (int tp = 0; tp < layout.tp; ++tp)
                slowest = std::min(slowest, cost.speed(layout.rankOf({tp, cp, dp, pp})));
        speeds[static_cast<std::size_t>(cp)] = slowest;
    }
    return speeds;
}

bool areEqual(std::span<const double> speeds) {
    return std::all_of(speeds.begin(), speeds.end(), [&](double speed) { return speed == speeds.front(); });
}

std::vector<std::int64_t> proportionalShares(std::int64_t tokens, std::span<const double> speeds) {
    ShareDealer dealer(speeds);
    std::span<const std::int64_t> shares = dealer.deal(tokens);
    return {shares.begin(), shares.end()};
}

ShareDealer::ShareDealer(std::span<const double> speeds)
    : weight_(speeds.begin(), speeds.end()),
      credit_(speeds.size()),
      share_(speeds.size()),
      order_(speeds.size()) {
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    BALLAST_CHECK(sum > 0);
    for (double& weight : weight_)
        weight /= sum;
}

std::span<const std::int64_t> ShareDealer::deal(std::int64_t tokens) {
    std::int64_t left = tokens;
    for (std::size_t rank = 0; rank < weight_.size(); ++rank) {
        const double exact = static_cast<double>(tokens) * weight_[rank];
        share_[rank] = static_cast<std::int64_t>(exact);
        credit_[rank] += exact - static_cast<double>(share_[rank]);
        left -= share_[rank];
    }
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return credit_[a] > credit_[b]; });
    for (std::size_t place = 0; left > 0; place = (place + 1) % order_.size(), --left) {
        ++share_[order_[place]];
        credit_[order_[place]] -= 1;
    }
    return share_;
}

}  // namespace ballast
