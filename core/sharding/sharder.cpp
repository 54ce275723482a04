// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/sharder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/sharding/adaptive_sharder.h"

namespace ballast {

namespace {

using MakeSharder = std::unique_ptr<Sharder> (*)(int ranks, const CostModel& cost);

/// The registry: a new strategy is a line here. Those that are their own rule stand first and are compared.
struct SharderEntry {
    std::string_view name;
    bool compared;  ///< false: picks among the others
    MakeSharder make;
};

std::unique_ptr<Sharder> makePerSequence(int ranks, const CostModel&) {
    return std::make_unique<PerSequenceSharder>(ranks);
}
std::unique_ptr<Sharder> makePerDocument(int ranks, const CostModel&) {
    return std::make_unique<PerDocumentSharder>(ranks);
}
std::unique_ptr<Sharder> makeAdaptive(int ranks, const CostModel& cost) {
    return std::make_unique<AdaptiveSharder>(ranks, cost);
}

constexpr std::array<SharderEntry, 3> kSharders = {{{"per-sequence", true, makePerSequence},
                                                    {"per-document", true, makePerDocument},
                                                    {"adaptive", false, makeAdaptive}}};
constexpr std::array<std::string_view, 3> kUnbuilt = {"mixed", "striped", "contiguous"};

}  // namespace

std::unique_ptr<Sharder> makeSharder(std::string_view strategy, int ranks, const CostModel& cost) {
    for (const SharderEntry& entry : kSharders)
        if (entry.name == strategy)
            return entry.make(ranks, cost);
    std::string names = fmt::format("{}", fmt::join(sharderNames(), ", "));
    if (std::find(kUnbuilt.begin(), kUnbuilt.end(), strategy) != kUnbuilt.end())
        throw Error(fmt::format("sharding.strategy={} is not built yet; use one of {}", strategy, names));
    throw Error(fmt::format("sharding.strategy={}: expected one of {}", strategy, names));
}

std::vector<std::string_view> sharderNames() {
    std::vector<std::string_view> names;
    for (const SharderEntry& entry : kSharders)
        names.push_back(entry.name);
    return names;
}

ShardingChoice compareShardings(std::span<const Piece> pieces, std::string_view strategy, int ranks,
                                const CostModel& cost) {
    std::string chosen = makeSharder(strategy, ranks, cost)->shard(pieces).strategy;
    ShardingChoice choice;
    Seconds least;
    for (const SharderEntry& entry : kSharders) {
        if (!entry.compared)
            continue;
        std::size_t place = choice.strategies.size();
        Sharding sharding = entry.make(ranks, cost)->shard(pieces);
        if (sharding.strategy == chosen)
            choice.chosen = place;
        Seconds slowest = slowestRank(sharding, cost);
        if (place == 0 || slowest < least) {
            least = slowest;
            choice.oracle = place;
        }
        choice.figures.push_back(shardFigures(sharding, cost));
        choice.strategies.push_back(std::move(sharding));
    }
    return choice;
}

}  // namespace ballast
