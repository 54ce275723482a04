// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/progress_bar.h"
#include "app/cli/readable.h"
#include "app/cli/scenario_arguments.h"
#include "core/sharding/sharder.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

Json rankJson(const Shard& shard, const ShardFigures& figures) {
    Json slices = Json::array();
    for (const Slice& slice : shard)
        slices.push_back({{"document", slice.document},
                          {"begin", slice.begin},
                          {"end", slice.end},
                          {"piece_begin", slice.pieceBegin}});
    return {{"slices", std::move(slices)},
            {"tokens", figures.tokens},
            {"pairs", figures.pairs},
            {"kv_bytes_in", figures.keyValueIn.value()},
            {"kv_bytes_out", figures.keyValueOut.value()},
            {"latency_s", figures.latency.value()}};
}

Json microBatchJson(const MicroBatch& batch, const ShardingChoice& choice) {
    Json strategies = Json::object();
    for (std::size_t index = 0; index < choice.strategies.size(); ++index) {
        const Sharding& sharding = choice.strategies[index];
        Json ranks = Json::array();
        for (std::size_t rank = 0; rank < sharding.ranks.size(); ++rank)
            ranks.push_back(rankJson(sharding.ranks[rank], choice.figures[index][rank]));
        strategies[sharding.strategy] = {{"ranks", std::move(ranks)}};
    }
    return {{"dp", batch.dp},
            {"index", batch.index},
            {"strategies", std::move(strategies)},
            {"chosen", choice.strategies[choice.chosen].strategy},
            {"oracle", choice.strategies[choice.oracle].strategy}};
}

/// What a person compares the strategies by, summed over micro-batches.
struct StrategyTotals {
    double slowest = 0;
    double mean = 0;
    std::int64_t chosen = 0;
    std::int64_t oracle = 0;
};

void addTotals(std::map<std::string, StrategyTotals>& totals, const ShardingChoice& choice) {
    for (std::size_t index = 0; index < choice.strategies.size(); ++index) {
        StrategyTotals& total = totals[choice.strategies[index].strategy];
        double slowest = 0;
        double sum = 0;
        for (const ShardFigures& figures : choice.figures[index]) {
            slowest = std::max(slowest, figures.latency.value());
            sum += figures.latency.value();
        }
        total.slowest += slowest;
        total.mean += sum / static_cast<double>(choice.figures[index].size());
        total.chosen += index == choice.chosen ? 1 : 0;
        total.oracle += index == choice.oracle ? 1 : 0;
    }
}

void printTotals(const Scenario& scenario, const std::map<std::string, StrategyTotals>& totals,
                 std::int64_t microBatches) {
    fmt::print("{} micro-batches over {} context-parallel ranks, strategy {}\n", grouped(microBatches),
               scenario.layout.cp, scenario.sharding.strategy);
    fmt::print("latency: predicted attention of one layer, forward and backward, slowest rank, summed\n");
    TextTable table({"strategy", "latency", "slowest / mean rank", "chosen", "fastest"});
    for (const auto& [name, total] : totals)
        table.add({name, readableSeconds(total.slowest),
                   fmt::format("{:.3f}", total.mean > 0 ? total.slowest / total.mean : 1),
                   grouped(total.chosen), grouped(total.oracle)});
    fmt::print("{}", table.text());
}

int shard(const ScenarioArguments& arguments) {
    Planner planner(arguments.load("shard"), arguments.steps);
    const Scenario& scenario = planner.header().scenario;
    std::string steps;
    std::map<std::string, StrategyTotals> totals;
    std::int64_t microBatches = 0;
    {
        ProgressBar bar("sharding, steps", planner.batchesToTake());
        while (const auto step = planner.next()) {
            Json answers = Json::array();
            for (const PlannedMicroBatch& planned : step->microBatches) {
                const ShardingChoice choice =
                    compareShardings(planned.batch.pieces, scenario.sharding.strategy, scenario.layout.cp,
                                     planner.cost(), planned.batch.dp);
                if (arguments.json)
                    answers.push_back(microBatchJson(planned.batch, choice));
                else if (!planned.batch.pieces.empty())
                    addTotals(totals, choice), ++microBatches;
            }
            if (arguments.json) {
                const Json answer = {{"step", step->step},
                                     {"kind", stepKindName(step->kind)},
                                     {"micro_batches", std::move(answers)}};
                steps += (steps.empty() ? "" : ",") + answer.dump();
            }
            bar.show(step->step + 1);
        }
    }
    if (arguments.json)
        printAnswer(fmt::format("{{\"steps\":[{}]}}", steps));
    else
        printTotals(scenario, totals, microBatches);
    return kDone;
}

}  // namespace

void addShardCommand(Program& program) {
    auto arguments = std::make_shared<ScenarioArguments>();
    CLI::App* command = program.app.add_subcommand("shard", "micro-batches -> context-parallel ranks");
    arguments->addTo(*command, false);
    command->callback([&program, arguments] { program.action = [arguments] { return shard(*arguments); }; });
}

}  // namespace ballast::cli
