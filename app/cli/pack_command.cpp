// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/progress_bar.h"
#include "app/cli/readable.h"
#include "app/cli/scenario_arguments.h"
#include "core/packing/packing_summary.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    ScenarioArguments scenario;
    std::string costPass = "both";
};

Json microBatchJson(const MicroBatch& batch, const CostModel& cost) {
    Json documents = Json::array();
    for (const Piece& piece : batch.pieces)
        documents.push_back({{"id", piece.document}, {"begin", piece.begin}, {"end", piece.end}});
    return {{"dp", batch.dp},
            {"index", batch.index},
            {"tokens", batch.tokens},
            {"workload_s", cost.workload(batch.work).value()},
            {"documents", std::move(documents)}};
}

std::string stepJson(const PackedStep& step, const CostModel& cost) {
    Json microBatches = Json::array();
    for (const MicroBatch& batch : step.microBatches)
        microBatches.push_back(microBatchJson(batch, cost));
    const Json answer = {{"step", step.step},
                         {"kind", stepKindName(step.kind)},
                         {"micro_batches", std::move(microBatches)},
                         {"imbalance_degree", imbalanceDegree(step, cost)},
                         {"attention_imbalance", attentionImbalance(step)},
                         {"pack_ms", step.packMilliseconds},
                         {"carried",
                          {{"documents", step.carried.documents},
                           {"queued_tokens", step.carried.queuedTokens},
                           {"remained_tokens", step.carried.remainedTokens}}}};
    return answer.dump();
}

std::int64_t discardedTokens(const std::vector<Discard>& discards) {
    std::int64_t tokens = 0;
    for (const Discard& discard : discards)
        tokens += discard.end - discard.begin;
    return tokens;
}

/// The answer without its steps, which stand in front of it.
Json endJson(const Planner& planner, const PackingSummary& summary, std::int64_t padding) {
    Json discarded = Json::array();
    for (const Discard& discard : planner.discards())
        discarded.push_back({{"document", discard.document},
                             {"begin", discard.begin},
                             {"end", discard.end},
                             {"reason", discard.reason}});
    const PlanHeader& header = planner.header();
    return {{"discarded", std::move(discarded)},
            {"chosen", {{"thresholds", header.chosen.thresholds}, {"max_tokens", header.chosen.maxTokens}}},
            {"summary",
             {{"imbalance_degree", summary.imbalanceDegree()},
              {"imbalance_degree_mean_of_steps", summary.imbalanceDegreeMeanOfSteps()},
              {"imbalance_degree_p95", summary.imbalanceDegreeP95()},
              {"mean_delay_steps", summary.meanDelaySteps()},
              {"mean_displacement_steps", summary.meanDisplacementSteps()},
              {"max_delay_steps", summary.maxDelaySteps()},
              {"tokens", summary.tokens()},
              {"documents", summary.documents()},
              {"discarded_tokens", discardedTokens(planner.discards())},
              {"padding_tokens", padding}}},
            {"source", header.sourceDescription},
            {"notices", planner.notices()}};
}

/// What aligning the pieces adds to their tokens.
std::int64_t paddingTokens(const PackedStep& step, std::int64_t align) {
    std::int64_t padding = 0;
    for (const MicroBatch& microBatch : step.microBatches)
        for (const Piece& piece : microBatch.pieces)
            padding += (align - piece.length() % align) % align;
    return padding;
}

std::vector<std::string> stepRow(const PackedStep& step, const CostModel& cost) {
    std::int64_t tokens = 0;
    std::int64_t filled = 0;
    for (const MicroBatch& batch : step.microBatches) {
        tokens += batch.tokens;
        filled += batch.tokens > 0 ? 1 : 0;
    }
    return {fmt::format("{}", step.step),
            std::string(stepKindName(step.kind)),
            grouped(filled),
            grouped(tokens),
            fmt::format("{:.3f}", imbalanceDegree(step, cost)),
            fmt::format("{:.3f}", attentionImbalance(step)),
            grouped(step.carried.documents),
            grouped(step.carried.queuedTokens + step.carried.remainedTokens),
            fmt::format("{:.3f} ms", step.packMilliseconds)};
}

void printSummary(const Planner& planner, const PackingSummary& summary, std::int64_t padding) {
    const PlanHeader& header = planner.header();
    const std::int64_t discarded = discardedTokens(planner.discards());
    const double all = static_cast<double>(summary.tokens() + discarded);
    fmt::print("\n{} packing of {}\n", header.scenario.packing.strategy, header.sourceDescription);
    fmt::print("thresholds [{}] tokens, at most {} tokens a micro-batch\n",
               fmt::join(header.chosen.thresholds, ", "), grouped(header.chosen.maxTokens));
    fmt::print("{} tokens of {} documents; {} tokens discarded ({})\n", grouped(summary.tokens()),
               grouped(summary.documents()), grouped(discarded),
               readableShare(all > 0 ? static_cast<double>(discarded) / all : 0));
    if (padding > 0)
        fmt::print("{} tokens of padding to multiples of {} ({} of the tokens)\n", grouped(padding),
                   header.scenario.packing.align,
                   readableShare(static_cast<double>(padding) / static_cast<double>(summary.tokens())));
    fmt::print(
        "imbalance degree {:.3f} (1 = perfectly balanced; sum of heaviest / sum of mean micro-batches), mean "
        "of the full steps {:.3f}, 95th percentile {:.3f}\n",
        summary.imbalanceDegree(), summary.imbalanceDegreeMeanOfSteps(), summary.imbalanceDegreeP95());
    fmt::print("delay of a token: mean {:.3f} steps, longest {}; displacement {:.3f} steps\n",
               summary.meanDelaySteps(), summary.maxDelaySteps(), summary.meanDisplacementSteps());
    printNotices(planner.notices());
}

int pack(const Arguments& arguments) {
    const CostPass pass = arguments.costPass == "forward" ? CostPass::Forward : CostPass::Both;
    Planner planner(arguments.scenario.load("pack"), arguments.scenario.steps, pass);
    PackingSummary summary(planner.cost());
    TextTable table({"step", "kind", "micro-batches", "tokens", "imbalance", "attention imbalance",
                     "documents waiting", "tokens waiting", "packed in"});
    std::string steps;
    std::int64_t lastStep = -1;
    std::int64_t padding = 0;
    {
        ProgressBar bar("packing, steps", planner.batchesToTake());
        while (const auto planned = planner.next()) {
            const PackedStep step = packedStep(*planned);
            summary.add(step);
            padding += paddingTokens(step, planner.header().scenario.packing.align);
            lastStep = step.step;
            if (arguments.scenario.json)
                steps += (steps.empty() ? "" : ",") + stepJson(step, planner.cost());
            else
                table.add(stepRow(step, planner.cost()));
            bar.show(lastStep + 1);
        }
    }
    const std::vector<Piece> waiting = planner.waiting();
    summary.addWaiting(waiting, lastStep);
    if (arguments.scenario.json) {
        const std::string end = endJson(planner, summary, padding).dump();
        printAnswer(fmt::format("{{\"steps\":[{}],{}", steps, std::string_view(end).substr(1)));
        return kDone;
    }
    fmt::print("{}", table.text());
    printSummary(planner, summary, padding);
    return kDone;
}

}  // namespace

void addPackCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("pack", "documents -> micro-batches");
    arguments->scenario.addTo(*command, false);
    command
        ->add_option("--cost-pass", arguments->costPass, "what a workload counts: both (default) or forward")
        ->check(CLI::IsMember({"both", "forward"}));
    command->callback([&program, arguments] { program.action = [arguments] { return pack(*arguments); }; });
}

}  // namespace ballast::cli
