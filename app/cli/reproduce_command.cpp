// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/readable.h"
#include "core/reproduce/published_table.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string name = "all";
    std::int64_t steps = 100;
    bool json = false;
};

Json tableJson(const PublishedTable& table) {
    Json figures = Json::array();
    for (const PublishedFigure& figure : table.figures)
        figures.push_back({{"row", figure.row},
                           {"column", figure.column},
                           {"published", figure.published ? Json(*figure.published) : Json()},
                           {"predicted", figure.predicted}});
    Json sensitivities = Json::array();
    for (const SensitivityFigure& figure : table.sensitivities)
        sensitivities.push_back(
            {{"variation", figure.variation}, {"row", figure.row}, {"predicted", figure.predicted}});
    return {{"name", table.name},
            {"title", table.title},
            {"source", table.source},
            {"quantity", table.quantity},
            {"figures", std::move(figures)},
            {"assumptions", table.assumptions},
            {"sensitivities", std::move(sensitivities)}};
}

void printFigures(const PublishedTable& table) {
    TextTable text({"", "", "published", "predicted", "difference"});
    std::string row;
    for (const PublishedFigure& figure : table.figures) {
        const bool again = figure.row == row;
        row = figure.row;
        text.add({again ? "" : figure.row, figure.column,
                  figure.published ? fmt::format("{:.2f}", *figure.published) : "-",
                  fmt::format("{:.3f}", figure.predicted),
                  figure.published ? fmt::format("{:+.3f}", figure.predicted - *figure.published) : "-"});
    }
    fmt::print("{}", text.text());
}

/// A line a variation, a column a row of the table.
void printSensitivities(const PublishedTable& table) {
    if (table.sensitivities.empty())
        return;
    fmt::print("\nwhat the assumptions are worth (predicted):\n");
    std::vector<std::string> heading = {"variation"};
    std::vector<std::vector<std::string>> lines;
    for (const SensitivityFigure& figure : table.sensitivities) {
        if (lines.empty() || lines.back().front() != figure.variation)
            lines.push_back({figure.variation});
        lines.back().push_back(fmt::format("{:.3f}", figure.predicted));
        if (lines.size() == 1)
            heading.push_back(figure.row);
    }
    TextTable text(heading);
    for (std::vector<std::string>& line : lines)
        text.add(std::move(line));
    fmt::print("{}", text.text());
}

void printTable(const PublishedTable& table) {
    fmt::print("{}: {} ({})\n{}; predicted = simulated by Ballast\n\n", table.name, table.title, table.source,
               table.quantity);
    printFigures(table);
    fmt::print("\nassumed:\n");
    for (const std::string& assumption : table.assumptions)
        fmt::print("- {}\n", assumption);
    printSensitivities(table);
}

int reproduceAll(const Arguments& arguments) {
    std::vector<std::string> names;
    if (arguments.name == "all")
        for (std::string_view name : reproductionNames())
            names.emplace_back(name);
    else
        names.push_back(arguments.name);
    Json tables = Json::array();
    for (const std::string& name : names) {
        const PublishedTable table = reproduce(name, arguments.steps);
        if (arguments.json) {
            tables.push_back(tableJson(table));
            continue;
        }
        printTable(table);
        fmt::print("\n");
        std::fflush(stdout);
    }
    if (arguments.json)
        printAnswer(Json{{"tables", std::move(tables)}}.dump());
    return kDone;
}

}  // namespace

void addReproduceCommand(Program& program) {
    CLI::App* command =
        program.app.add_subcommand("reproduce", "Published results beside what Ballast predicts for them");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("name", arguments->name,
                        "table2, figure12, figure13, figure14 or figure15 of WLB-LLM (default: all)");
    command->add_option("--steps", arguments->steps, "global batches a cell (default 100)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100000}));
    command->add_flag("--json", arguments->json, "one JSON document on stdout");
    command->callback(
        [&program, arguments] { program.action = [arguments] { return reproduceAll(*arguments); }; });
}

}  // namespace ballast::cli
