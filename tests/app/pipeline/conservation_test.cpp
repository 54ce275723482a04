// SPDX-License-Identifier: Apache-2.0
//
// Runs the `ballast` program on generated length files and checks what it prints, knowing only the lengths.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "tests/support/temporary_directory.h"

namespace ballast::testing {
namespace {

using nlohmann::json;

constexpr std::int64_t kWindow = 64;

struct Case {
    std::string name;
    std::vector<std::int64_t> lengths;
};

std::vector<Case> cases() {
    using Lengths = std::vector<std::int64_t>;
    std::vector<Case> all = {{"all equal", Lengths(50, kWindow / 4)},
                             {"one giant", {100 * kWindow + 7}},
                             {"thousands of ones", Lengths(3000, 1)},
                             {"shorter than 2*cp", {1, 2, 3, 1, 2, 3, 3, 1, 2}},
                             {"longer than the window", {kWindow + 1, 2 * kWindow, 3, 2 * kWindow + 1}},
                             {"zeros", {0, kWindow, 0, 0, 1, kWindow / 2, 0}},
                             {"only zeros", Lengths(5, 0)}};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Random random(seed);
        Case& drawn = all.emplace_back();
        drawn.name = "random " + std::to_string(seed);
        for (int document = 0; document < 300; ++document)
            drawn.lengths.push_back(
                static_cast<std::int64_t>(random.below(random.below(6) == 0 ? 3 * kWindow : kWindow / 6)));
    }
    return all;
}

/// Runs a command of the program in a shell, expects exit code 0, and gives its answer.
json answerOf(const std::string& arguments) {
    std::string command = std::string(BALLAST_BIN_DIR) + "/ballast " + arguments;
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    char buffer[65536];
    for (std::size_t read = 0; pipe && (read = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        text.append(buffer, read);
    int status = pipe ? pclose(pipe) : -1;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    json answer = json::parse(text, nullptr, false);
    EXPECT_FALSE(answer.is_discarded()) << command << " printed " << text.substr(0, 200);
    return answer;
}

struct Range {
    std::int64_t document;
    std::int64_t begin;
    std::int64_t end;

    auto operator<=>(const Range&) const = default;
    std::int64_t tokens() const { return end - begin; }
};

Range rangeOf(const json& entry, const char* id) {
    return {entry.at(id).get<std::int64_t>(), entry.at("begin").get<std::int64_t>(),
            entry.at("end").get<std::int64_t>()};
}

void expectEveryTokenOnce(std::vector<Range> ranges, const std::vector<std::int64_t>& lengths) {
    std::sort(ranges.begin(), ranges.end());
    std::size_t next = 0;
    for (std::size_t document = 0; document < lengths.size(); ++document)
        for (std::int64_t at = 0; at < lengths[document]; at = ranges[next++].end) {
            ASSERT_LT(next, ranges.size()) << "document " << document << " from token " << at;
            ASSERT_EQ(ranges[next].document, static_cast<std::int64_t>(document)) << "token " << at;
            ASSERT_EQ(ranges[next].begin, at) << "document " << document;
            ASSERT_GT(ranges[next].end, at) << "document " << document;
            ASSERT_LE(ranges[next].end, lengths[document]) << "document " << document;
        }
    EXPECT_EQ(next, ranges.size()) << "tokens of no document, or twice";
}

using Pieces = std::vector<Range>;
/// Pieces of each micro-batch by (step, dp, index).
using MicroBatches = std::map<std::vector<std::int64_t>, Pieces>;

std::vector<std::int64_t> placeOf(const json& step, const json& microBatch) {
    return {step.at("step").get<std::int64_t>(), microBatch.at("dp").get<std::int64_t>(),
            microBatch.at("index").get<std::int64_t>()};
}

MicroBatches checkPack(const json& answer, const std::vector<std::int64_t>& lengths) {
    MicroBatches microBatches;
    std::vector<Range> ranges;
    std::int64_t trained = 0;
    for (const json& step : answer.at("steps"))
        for (const json& microBatch : step.at("micro_batches")) {
            Pieces& pieces = microBatches[placeOf(step, microBatch)];
            std::int64_t tokens = 0;
            for (const json& document : microBatch.at("documents")) {
                pieces.push_back(rangeOf(document, "id"));
                tokens += pieces.back().tokens();
            }
            EXPECT_EQ(microBatch.at("tokens"), tokens);
            trained += tokens;
            ranges.insert(ranges.end(), pieces.begin(), pieces.end());
        }
    std::int64_t discarded = 0;
    for (const json& entry : answer.at("discarded")) {
        ranges.push_back(rangeOf(entry, "document"));
        discarded += ranges.back().tokens();
        EXPECT_FALSE(entry.at("reason").get<std::string>().empty());
    }
    expectEveryTokenOnce(ranges, lengths);
    EXPECT_EQ(answer.at("summary").at("tokens"), trained);
    EXPECT_EQ(answer.at("summary").at("discarded_tokens"), discarded);
    return microBatches;
}

/// The keys that each query of a micro-batch sees under the document-causal mask, counted one by one.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> keysSeen(const Pieces& pieces) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
    for (const Range& piece : pieces)
        for (std::int64_t query = piece.begin; query < piece.end; ++query)
            for (std::int64_t key = piece.begin; key <= query; ++key)
                ++seen[{piece.document, query}];
    return seen;
}

void checkShards(const std::string& strategy, const json& ranks, const Pieces& pieces) {
    SCOPED_TRACE(strategy);
    auto notYetCovered = keysSeen(pieces);
    std::int64_t in = 0;
    std::int64_t out = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
    for (const json& rank : ranks) {
        std::int64_t tokens = 0;
        std::int64_t pairs = 0;
        for (const json& entry : rank.at("slices")) {
            Range slice = rangeOf(entry, "document");
            tokens += slice.tokens();
            for (std::int64_t token = slice.begin; token < slice.end; ++token) {
                auto query = notYetCovered.find({slice.document, token});
                ASSERT_NE(query, notYetCovered.end()) << "token " << token << " of document "
                                                      << slice.document << " is there twice or not at all";
                pairs += query->second;
                notYetCovered.erase(query);
            }
            EXPECT_TRUE(std::any_of(pieces.begin(), pieces.end(), [&](const Range& piece) {
                return piece.document == slice.document && piece.begin == entry.at("piece_begin") &&
                       piece.begin <= slice.begin && slice.end <= piece.end;
            }));
        }
        EXPECT_EQ(rank.at("tokens"), tokens);
        EXPECT_EQ(rank.at("pairs"), pairs);
        in += rank.at("kv_bytes_in").get<std::int64_t>();
        out += rank.at("kv_bytes_out").get<std::int64_t>();
        bool first = &rank == &ranks.front();
        least = first ? tokens : std::min(least, tokens);
        most = first ? tokens : std::max(most, tokens);
    }
    EXPECT_TRUE(notYetCovered.empty()) << notYetCovered.size() << " tokens are on no rank";
    EXPECT_EQ(in, out);
    EXPECT_TRUE(strategy != "per-document" || most - least <= 1) << least << " to " << most << " tokens";
}

void checkShardAnswer(const json& answer, const MicroBatches& microBatches, std::size_t ranks) {
    std::size_t found = 0;
    for (const json& step : answer.at("steps"))
        for (const json& microBatch : step.at("micro_batches")) {
            auto packed = microBatches.find(placeOf(step, microBatch));
            ASSERT_NE(packed, microBatches.end()) << "pack did not print this micro-batch";
            found += packed->second.empty() ? 0 : 1;
            const json& strategies = microBatch.at("strategies");
            for (const char* name : {"per-sequence", "per-document", "mixed", "striped", "contiguous"}) {
                ASSERT_EQ(strategies.at(name).at("ranks").size(), ranks);
                checkShards(name, strategies.at(name).at("ranks"), packed->second);
            }
            EXPECT_TRUE(strategies.contains(microBatch.at("chosen").get<std::string>()));
            EXPECT_TRUE(strategies.contains(microBatch.at("oracle").get<std::string>()));
        }
    auto filled = std::count_if(microBatches.begin(), microBatches.end(),
                                [](const auto& entry) { return !entry.second.empty(); });
    EXPECT_EQ(static_cast<std::int64_t>(found), filled) << "shard left out a micro-batch";
}

void checkPipeline(const std::string& strategy, const std::string& overlong, int cp) {
    for (const Case& given : cases()) {
        SCOPED_TRACE(given.name + ", " + strategy + ", " + overlong + ", cp " + std::to_string(cp));
        TemporaryDirectory directory;
        std::string text;
        for (std::int64_t length : given.lengths)
            text += std::to_string(length) + "\n";
        json scenario = {{"lengths",
                          {{"source", directory.write("lengths.txt", text).string()},
                           {"window", kWindow},
                           {"overlong", overlong}}},
                         {"model", "demo"},
                         {"layout", {{"tp", 1}, {"cp", cp}, {"dp", 2}, {"pp", 2}}},
                         {"micro_batches", 2},
                         {"packing", {{"strategy", strategy}, {"batches", 2}, {"time_limit_s", 0.05}}}};
        std::string file = directory.write("scenario.json", scenario.dump()).string();
        MicroBatches microBatches = checkPack(answerOf("pack " + file + " --json"), given.lengths);
        checkShardAnswer(answerOf("shard " + file + " --json"), microBatches, static_cast<std::size_t>(cp));
    }
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForSequential) {
    checkPipeline("sequential", "split", 2);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForGreedyAndListWhatIsTruncated) {
    checkPipeline("greedy", "truncate", 4);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForWlbAndListWhatIsDropped) {
    checkPipeline("wlb", "drop", 3);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForWlbOfSplitDocuments) {
    checkPipeline("wlb", "split", 1);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForFirstFitAndBestFit) {
    checkPipeline("first-fit", "split", 2);
    checkPipeline("best-fit", "truncate", 4);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForDifferencing) {
    checkPipeline("karmarkar-karp", "split", 2);
}

TEST(PackAndShardAnswers, KeepEveryTokenOnceForTheSolver) {
    checkPipeline("solver", "drop", 2);
}

}  // namespace
}  // namespace ballast::testing
