// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/compare_answer.h"
#include "app/cli/compared_runs.h"
#include "app/cli/comparison_limit.h"
#include "core/base/error.h"

namespace ballast::cli {

namespace {

struct Arguments {
    std::string first;
    std::string second;
    std::string workspace;
    std::string limit;
    bool json = false;
};

int compareTwo(const Arguments& arguments) {
    const auto limit =
        arguments.limit.empty() ? std::nullopt : std::optional(ComparisonLimit(arguments.limit));
    const ComparedRuns runs({arguments.first, arguments.second}, arguments.workspace);
    const Workspace& workspace = runs.workspace();
    const Comparison comparison =
        compare(workspace, Baseline{runFigures(workspace, runs.first())}, runs.second());
    if (arguments.json)
        printAnswer(comparisonJson(workspace, comparison));
    else
        fmt::print("{}", comparisonText(workspace, comparison));
    if (!limit)
        return kDone;
    if (!comparison.comparable)
        throw Error(fmt::format("compare: --fail-if {} can't be judged: {}", arguments.limit,
                                comparison.whyNot.front()),
                    ErrorCode::WorkFailed);
    const double change = limit->changeOf(comparison);
    if (!limit->exceededBy(change))
        return kDone;
    fmt::print(stderr, "ballast: {} changed by {:+.2f} %, over the limit {}\n", limit->metric(), 100 * change,
               arguments.limit);
    return kWorkFailed;
}

}  // namespace

void addCompareCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("compare", "two runs or plans side by side");
    command->add_option("first", arguments->first, "baseline: run:3 (or 3), or plan:FILE")->required();
    command->add_option("second", arguments->second, "what is held against it")->required();
    command->add_option("--workspace", arguments->workspace, "workspace that holds the runs");
    command->add_option(
        "--fail-if", arguments->limit,
        "exit code 1 when it holds, e.g. 'step_time>+3%'; also seconds_per_token, tokens_per_s, "
        "imbalance_degree, rank_imbalance, compute, waiting, loss");
    command->add_flag("--json", arguments->json, "one JSON document on stdout");
    command->callback(
        [&program, arguments] { program.action = [arguments] { return compareTwo(*arguments); }; });
}

}  // namespace ballast::cli
