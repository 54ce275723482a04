// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/sharding/sharder.h"
#include "tests/support/builders.h"

namespace ballast::testing {

/// Pieces of these lengths; every second one starts inside its document, as cut ones do.
inline std::vector<Piece> piecesOf(const std::vector<std::int64_t>& lengths) {
    std::vector<Piece> pieces;
    for (std::int64_t length : lengths) {
        auto document = static_cast<std::int64_t>(pieces.size());
        std::int64_t begin = document % 2 == 0 ? 0 : 1000;
        pieces.push_back({document, begin, begin + length, 0, document});
    }
    return pieces;
}

/// tileCost over cp ranks with an exchange, the cluster perhaps changed.
inline CostModel exchangeCost(int ranks, std::string_view exchange,
                              const ClusterSpec& cluster = tinyCluster()) {
    Scenario scenario = tinyScenario();
    scenario.layout = {1, ranks, 1, 1};
    scenario.cost = {};
    scenario.sharding.exchange = exchange;
    return CostModel(scenario, tinyModel(), cluster);
}

/// The rank of every token of a micro-batch in packed order, -1 where none has it, and the number of claims.
struct TokenRanks {
    std::vector<int> rank;
    std::vector<int> claims;
};
inline TokenRanks tokenRanks(const std::vector<Piece>& pieces, const Sharding& sharding) {
    std::vector<std::int64_t> start;
    std::int64_t total = 0;
    for (const Piece& piece : pieces) {
        start.push_back(total);
        total += piece.length();
    }
    TokenRanks tokens{std::vector<int>(static_cast<std::size_t>(total), -1),
                      std::vector<int>(static_cast<std::size_t>(total))};
    for (std::size_t rank = 0; rank < sharding.ranks.size(); ++rank)
        for (const Slice& slice : sharding.ranks[rank])
            for (std::int64_t token = slice.begin; token < slice.end; ++token) {
                auto document = static_cast<std::size_t>(slice.document);
                auto place = static_cast<std::size_t>(start[document] + token - pieces[document].begin);
                tokens.rank[place] = static_cast<int>(rank);
                ++tokens.claims[place];
            }
    return tokens;
}

/// Pairs of each rank counted one by one from the document-causal mask: a query sees the keys of its own
/// piece up to itself.
inline std::vector<std::int64_t> countedPairs(const std::vector<Piece>& pieces, const Sharding& sharding) {
    std::vector<std::int64_t> pairs(sharding.ranks.size());
    TokenRanks tokens = tokenRanks(pieces, sharding);
    std::size_t start = 0;
    for (const Piece& piece : pieces) {
        auto length = static_cast<std::size_t>(piece.length());
        for (std::size_t query = 0; query < length; ++query)
            for (std::size_t key = 0; key < length; ++key)
                if (key <= query)
                    ++pairs[static_cast<std::size_t>(tokens.rank[start + query])];
        start += length;
    }
    return pairs;
}

inline std::vector<std::vector<std::int64_t>> hostilePackings() {
    return {{},
            {1},
            {7},
            {7, 8, 9},
            {3, 2, 409},
            {4, 12},
            std::vector<std::int64_t>(30, 16),
            std::vector<std::int64_t>(500, 1),
            {1, 2, 3, 1, 2, 3, 5, 7, 1},
            {997},
            {1, 600, 1},
            {137, 241, 89}};
}

inline std::vector<std::int64_t> randomPacking(std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int64_t> lengths(1 + random.below(20));
    for (std::int64_t& length : lengths)
        length = 1 + static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 200 : 24));
    return lengths;
}

}  // namespace ballast::testing
