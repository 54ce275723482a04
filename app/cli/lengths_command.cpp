// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/commands.h"
#include "app/cli/readable.h"
#include "core/workload/length_statistics.h"
#include "core/workload/token_source.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestShares[] = {0.001, 0.01, 0.1};
/// Above this the entropy is left out, since every token would have to be read.
constexpr std::int64_t kEntropyTokens = std::int64_t{1} << 31;

struct Arguments {
    std::vector<std::string> source;
    std::int64_t window = 131072;
    std::uint64_t seed = 1;
    bool json = false;
};

struct Findings {
    LengthStatistics statistics;
    std::vector<double> longestHold;  ///< attention share of the longest documents, by kLongestShares
    std::optional<double> entropy;    ///< nats a token; only where tokens come from a file
};

Findings findingsOf(const Arguments& arguments, const LengthSource& source) {
    Findings findings{lengthStatistics(source, arguments.window), {}, {}};
    for (const double share : kLongestShares)
        findings.longestHold.push_back(attentionShareOfLongest(source, share));
    LengthsOptions options;
    options.source = arguments.source;
    options.seed = arguments.seed;
    const auto tokens = openTokenSource(options, std::numeric_limits<std::int64_t>::max());
    if (tokens->fromFile() && findings.statistics.tokens <= kEntropyTokens)
        findings.entropy = unigramEntropy(source, *tokens);
    return findings;
}

std::string answerJson(const LengthSource& source, const Findings& findings, std::int64_t window) {
    const LengthStatistics& statistics = findings.statistics;
    Json percentiles = Json::object();
    for (const auto& [percent, length] : statistics.percentiles)
        percentiles[fmt::format("{:g}", percent)] = length;
    Json buckets = Json::array();
    for (const LengthBucket& bucket : statistics.buckets)
        buckets.push_back({{"from", bucket.from},
                           {"to", bucket.to},
                           {"documents", bucket.documents},
                           {"tokens", bucket.tokens},
                           {"attention_work", bucket.attentionWork}});
    Json longest = Json::object();
    for (std::size_t index = 0; index < findings.longestHold.size(); ++index)
        longest[fmt::format("{:g}", 100 * kLongestShares[index])] = findings.longestHold[index];
    Json answer = {
        {"documents", statistics.documents},
        {"empty", statistics.empty},
        {"tokens", statistics.tokens},
        {"mean", statistics.mean},
        {"token_weighted_mean", statistics.tokenWeightedMean},
        {"percentiles", percentiles},
        {"max", statistics.maximum},
        {"window", window},
        {"overlong", {{"documents", statistics.overlongDocuments}, {"tokens", statistics.overlongTokens}}},
        {"attention_work", statistics.attentionWork},
        {"attention_share_of_longest_percent", longest},
        {"buckets", buckets},
        {"source", source.description()},
        {"notices", source.notices()}};
    if (findings.entropy)
        answer["unigram_entropy_nats"] = *findings.entropy;
    return answer.dump();
}

void printBuckets(const LengthStatistics& statistics) {
    TextTable table({"tokens", "documents", "tokens held", "share of tokens", "share of attention work"});
    for (const LengthBucket& bucket : statistics.buckets)
        table.add({fmt::format("{} - {}", grouped(bucket.from), grouped(bucket.to - 1)),
                   grouped(bucket.documents), grouped(bucket.tokens),
                   readableShare(statistics.tokens > 0 ? static_cast<double>(bucket.tokens) /
                                                             static_cast<double>(statistics.tokens)
                                                       : 0),
                   readableShare(
                       statistics.attentionWork > 0 ? bucket.attentionWork / statistics.attentionWork : 0)});
    fmt::print("{}", table.text());
}

void printFindings(const LengthSource& source, const Findings& findings, std::int64_t window) {
    const LengthStatistics& statistics = findings.statistics;
    fmt::print("{}\n", source.description());
    fmt::print(
        "{} documents ({} empty), {} tokens, mean {:.1f}, token-weighted mean {:.1f}, longest {} tokens\n",
        grouped(statistics.documents), grouped(statistics.empty), grouped(statistics.tokens), statistics.mean,
        statistics.tokenWeightedMean, grouped(statistics.maximum));
    std::string percentiles;
    for (const auto& [percent, length] : statistics.percentiles)
        percentiles +=
            fmt::format("{}{:g} %: {}", percentiles.empty() ? "" : "   ", percent, grouped(length));
    if (!percentiles.empty())
        fmt::print("length that this share of documents does not exceed, in tokens: {}\n\n", percentiles);
    printBuckets(statistics);
    fmt::print("\n");
    for (const std::string& sentence : describeLengths(statistics, window))
        fmt::print("{}\n", sentence);
    if (statistics.documents > 0) {
        for (std::size_t index = 0; index < findings.longestHold.size(); ++index)
            fmt::print("the longest {:g} % of documents hold {} of the attention work\n",
                       100 * kLongestShares[index], readableShare(findings.longestHold[index]));
    }
    if (findings.entropy)
        fmt::print("unigram entropy of the tokens: {:.4f} nats a token\n", *findings.entropy);
}

int lengths(const Arguments& arguments) {
    const auto source = openLengthSource(arguments.source, arguments.seed);
    const Findings findings = findingsOf(arguments, *source);
    if (arguments.json)
        printAnswer(answerJson(*source, findings, arguments.window));
    else
        printFindings(*source, findings, arguments.window);
    printNotices(source->notices());
    return kDone;
}

}  // namespace

void addLengthsCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("lengths", "statistics of document lengths");
    command
        ->add_option("source", arguments->source,
                     "a preset, or files: .idx, .npy, .csv, .tsv, .jsonl (PATH#NAME), .json, .txt, texts "
                     "also .gz or .zst")
        ->required();
    command->add_option("--window", arguments->window, "context window in tokens (default 131072)")
        ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
    command->add_option("--seed", arguments->seed, "of a preset (default 1)");
    command->add_flag("--json", arguments->json, "one JSON document on stdout");
    command->callback(
        [&program, arguments] { program.action = [arguments] { return lengths(*arguments); }; });
}

}  // namespace ballast::cli
