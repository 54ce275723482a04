// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>

#include "app/cli/commands.h"
#include "core/base/text_file.h"
#include "core/job/scenario.h"

namespace ballast::cli {

namespace {

struct Arguments {
    std::string file;
    std::vector<std::string> assignments;
    std::vector<std::string> moreAssignments;  ///< given by --set; applied after the bare ones
    bool json = false;
};

int write(const Scenario& scenario, const Arguments& arguments) {
    const std::string text = scenarioJson(scenario);
    writeTextFile(arguments.file, text.ends_with('\n') ? text : text + "\n");
    if (arguments.json)
        printAnswer(text);
    else
        fmt::print("wrote {}\n", arguments.file);
    return kDone;
}

int makeNew(const Arguments& arguments) {
    Scenario scenario;
    setScenarioValues(scenario, arguments.assignments);
    return write(scenario, arguments);
}

int set(const Arguments& arguments) {
    Scenario scenario = loadScenario(arguments.file);
    setScenarioValues(scenario, arguments.assignments);
    return write(scenario, arguments);
}

int show(const Arguments& arguments) {
    Scenario scenario = loadScenario(arguments.file);
    setScenarioValues(scenario, arguments.assignments);
    printAnswer(scenarioJson(scenario));
    return kDone;
}

void addAction(Program& program, CLI::App& command, const char* name, const char* description,
               int (*action)(const Arguments&)) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* sub = command.add_subcommand(name, description);
    sub->add_option("file", arguments->file, "scenario file")->required();
    sub->add_option("assignments", arguments->assignments, "key=value, e.g. packing.strategy=greedy");
    sub->add_option("--set", arguments->moreAssignments, "the same as a bare key=value")
        ->take_all()
        ->expected(1);
    sub->add_flag("--json", arguments->json, "the whole scenario on stdout");
    sub->callback([&program, arguments, action] {
        arguments->assignments.insert(arguments->assignments.end(), arguments->moreAssignments.begin(),
                                      arguments->moreAssignments.end());
        program.action = [arguments, action] { return action(*arguments); };
    });
}

}  // namespace

void addScenarioCommand(Program& program) {
    CLI::App* command = program.app.add_subcommand("scenario", "makes, shows or changes a scenario file");
    command->require_subcommand(1);
    addAction(program, *command, "new", "writes a scenario of defaults and the given values", makeNew);
    addAction(program, *command, "show", "prints a scenario with every default", show);
    addAction(program, *command, "set", "changes values of a scenario file", set);
}

}  // namespace ballast::cli
