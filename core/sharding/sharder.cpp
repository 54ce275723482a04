// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/sharder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/sharding/adaptive_sharder.h"
#include "core/sharding/contiguous_sharder.h"
#include "core/sharding/mixed_sharder.h"
#include "core/sharding/sharding_cost.h"
#include "core/sharding/striped_sharder.h"

namespace ballast {

namespace {

using MakeSharder = std::unique_ptr<Sharder> (*)(int ranks, const CostModel& cost);

/// The registry: a new strategy is a line here. Those that are their own rule stand first and are compared.
struct SharderEntry {
    std::string_view name;
    bool compared;  ///< false: picks among the others
    MakeSharder make;
};

template <class Strategy>
std::unique_ptr<Sharder> makeByRanks(int ranks, const CostModel&) {
    return std::make_unique<Strategy>(ranks);
}
template <class Strategy>
std::unique_ptr<Sharder> makeByCost(int ranks, const CostModel& cost) {
    return std::make_unique<Strategy>(ranks, cost);
}

constexpr std::array<SharderEntry, 6> kSharders = {{{"per-sequence", true, makeByRanks<PerSequenceSharder>},
                                                    {"per-document", true, makeByCost<PerDocumentSharder>},
                                                    {"mixed", true, makeByCost<MixedSharder>},
                                                    {"striped", true, makeByRanks<StripedSharder>},
                                                    {"contiguous", true, makeByRanks<ContiguousSharder>},
                                                    {"adaptive", false, makeByCost<AdaptiveSharder>}}};

}  // namespace

std::unique_ptr<Sharder> makeSharder(std::string_view strategy, int ranks, const CostModel& cost) {
    for (const SharderEntry& entry : kSharders)
        if (entry.name == strategy)
            return entry.make(ranks, cost);
    throw Error(
        fmt::format("sharding.strategy={}: expected one of {}", strategy, fmt::join(sharderNames(), ", ")));
}

std::vector<std::string_view> sharderNames() {
    std::vector<std::string_view> names;
    for (const SharderEntry& entry : kSharders)
        names.push_back(entry.name);
    return names;
}

ShardingChoice compareShardings(std::span<const Piece> pieces, std::string_view strategy, int ranks,
                                const CostModel& cost, int dp) {
    std::string chosen = makeSharder(strategy, ranks, cost)->shard(pieces, dp).strategy;
    ShardingChoice choice;
    Seconds least;
    for (const SharderEntry& entry : kSharders) {
        if (!entry.compared)
            continue;
        std::size_t place = choice.strategies.size();
        Sharding sharding = entry.make(ranks, cost)->shard(pieces, dp);
        if (sharding.strategy == chosen)
            choice.chosen = place;
        Seconds seconds = shardingSeconds(sharding, cost, dp);
        if (place == 0 || seconds < least) {
            least = seconds;
            choice.oracle = place;
        }
        choice.figures.push_back(shardFigures(sharding, cost, dp));
        choice.strategies.push_back(std::move(sharding));
    }
    return choice;
}

}  // namespace ballast
