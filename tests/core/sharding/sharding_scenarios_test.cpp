// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sharding_setup.h"

namespace ballast::testing {
namespace {

struct ShardingScenario {
    std::string title;
    std::vector<std::int64_t> lengths;
    int ranks = 2;
    std::string strategy;
    std::string picture;
    std::string pairs;
};

/// Reads tests/scenarios/sharding.txt, whose form tests/scenarios/README.md describes.
std::vector<ShardingScenario> readScenarios() {
    std::ifstream file(BALLAST_TEST_DATA "/scenarios/sharding.txt");
    std::vector<ShardingScenario> scenarios;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        if (!(words >> key))
            continue;
        if (key == "#") {
            scenarios.emplace_back().title = line.substr(2);
        } else if (key == "pieces") {
            for (std::string word; words >> word;) {
                if (word == "ranks")
                    words >> scenarios.back().ranks;
                else if (word == "strategy")
                    words >> scenarios.back().strategy;
                else
                    scenarios.back().lengths.push_back(std::stoll(word));
            }
        } else if (key == "expect" || key == "pairs") {
            std::string& text = key == "expect" ? scenarios.back().picture : scenarios.back().pairs;
            for (std::string word; words >> word;)
                text += (text.empty() ? "" : " ") + word;
        } else {
            throw std::runtime_error("sharding.txt: '" + key + "' is no key");
        }
    }
    return scenarios;
}

std::string pictureOf(const std::vector<Piece>& pieces, const Sharding& sharding) {
    std::vector<int> rank = tokenRanks(pieces, sharding).rank;
    std::string text;
    std::size_t token = 0;
    for (const Piece& piece : pieces) {
        text += text.empty() ? "" : " ";
        for (std::int64_t i = 0; i < piece.length(); ++i)
            text += std::to_string(rank[token++]);
    }
    return text;
}

TEST(ShardingScenarios, LookAsDrawn) {
    std::vector<ShardingScenario> scenarios = readScenarios();
    EXPECT_GE(scenarios.size(), 8u);
    CostModel cost = tileCost({1, 2, 1, 1});
    for (const ShardingScenario& scenario : scenarios) {
        std::vector<Piece> pieces = piecesOf(scenario.lengths);
        Sharding sharding = makeSharder(scenario.strategy, scenario.ranks, cost)->shard(pieces);
        EXPECT_EQ(pictureOf(pieces, sharding), scenario.picture) << scenario.title;
        std::string pairs;
        for (const ShardFigures& figures : shardFigures(sharding, cost))
            pairs += (pairs.empty() ? "" : " ") + std::to_string(figures.pairs);
        EXPECT_EQ(pairs, scenario.pairs) << scenario.title;
    }
}

}  // namespace
}  // namespace ballast::testing
