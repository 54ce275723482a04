// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sharding/shard.h"

namespace ballast {

/// Tokens whose keys and values rank `from` sends to rank `to` in the forward of a layer; in the backward
/// their gradients go the other way. No rank sends to itself.
struct ExchangedTokens {
    std::size_t ranks = 0;
    std::vector<std::int64_t> tokens;  ///< [from * ranks + to]

    std::int64_t sent(std::size_t from, std::size_t to) const { return tokens[from * ranks + to]; }
    std::int64_t into(std::size_t rank) const;
    std::int64_t outOf(std::size_t rank) const;
};

/// All-gather: a rank sends every token of its own to each other rank.
ExchangedTokens gatheredTokens(const Sharding& sharding);

/// Need-based: a token goes to each other rank that has a later query of the same piece, and to no other. A
/// piece that lies whole on one rank costs nothing. source: FlashCP (arXiv 2606.08476), section "sharding-
/// aware communication"; there all ranks still send as much as the one that sends most, here each sends its
/// own. O(slices * ranks).
ExchangedTokens neededTokens(const Sharding& sharding);

/// Whether the scenario's exchange is need-based (else it is an all-gather).
bool isNeedBased(const CostModel& cost);
/// The scenario's exchange.
ExchangedTokens exchangedTokens(const Sharding& sharding, const CostModel& cost);

/// Keys and values of one token and layer on one tp rank.
std::int64_t keyValueBytesPerToken(const CostModel& cost);
/// The exchange in bytes, [from * ranks + to], as pairwiseExchangeSeconds takes it.
std::vector<std::int64_t> exchangedBytes(const ExchangedTokens& exchanged, const CostModel& cost);
/// Time of one need-based exchange of one layer between these ranks of the world.
Seconds neededExchangeSeconds(const ExchangedTokens& exchanged, const CostModel& cost,
                              std::span<const int> group);

}  // namespace ballast
