// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/progress_bar.h"
#include "app/cli/scenario_arguments.h"

namespace ballast::cli {

namespace {

struct Arguments {
    ScenarioArguments scenario;
    std::string out;
};

int plan(const Arguments& arguments) {
    Planner planner(arguments.scenario.load("plan"), arguments.scenario.steps);
    PlanWriter writer(arguments.out, planner.header());
    std::int64_t steps = 0;
    {
        ProgressBar bar("planning, steps", planner.batchesToTake());
        while (const auto step = planner.next()) {
            writer.write(*step);
            bar.show(++steps);
        }
    }
    writer.finish(planner.discards());
    if (arguments.scenario.json)
        printAnswer(nlohmann::ordered_json{{"plan", arguments.out}, {"steps", steps}}.dump());
    else
        fmt::print("wrote {}: {} steps\n", arguments.out, steps);
    return kDone;
}

}  // namespace

void addPlanCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("plan", "writes every decision of a scenario to a file");
    arguments->scenario.addTo(*command, false);
    command->add_option("--out", arguments->out, "plan file")->required();
    command->callback([&program, arguments] { program.action = [arguments] { return plan(*arguments); }; });
}

}  // namespace ballast::cli
