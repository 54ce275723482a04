// SPDX-License-Identifier: Apache-2.0
#include "app/cli/scenario_arguments.h"

#include <fmt/core.h>

#include <limits>

#include "core/base/error.h"

namespace ballast::cli {

void ScenarioArguments::addTo(CLI::App& command, bool planAllowed) {
    command
        .add_option(planAllowed ? "scenario-or-plan" : "scenario", file,
                    planAllowed ? "scenario file or plan file" : "scenario file")
        ->required();
    command.add_option("--set", assignments, "key=value that overrides the scenario; may be repeated")
        ->take_all()
        ->expected(1);
    command
        .add_option("--steps", steps, "global batches to take (default: the scenario's, else all, else 20)")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
    command.add_flag("--json", json, "one JSON document on stdout");
}

Scenario ScenarioArguments::load(std::string_view command) const {
    if (isPlan())
        throw Error(fmt::format("{}: {} is a plan; expected a scenario file", command, file));
    Scenario scenario = loadScenario(file);
    setScenarioValues(scenario, assignments);
    refuseUnbuilt(scenario, command);
    return scenario;
}

StepSource::StepSource(const ScenarioArguments& arguments, std::string_view command) {
    if (!arguments.isPlan()) {
        planner_.emplace(arguments.load(command), arguments.steps);
        return;
    }
    if (!arguments.assignments.empty() || arguments.steps)
        throw Error(fmt::format("{}: {} is a plan, which --set and --steps cannot change; leave them out",
                                command, arguments.file));
    reader_.emplace(arguments.file);
}

const PlanHeader& StepSource::header() const {
    return planner_ ? planner_->header() : reader_->header();
}

std::optional<PlanStep> StepSource::next() {
    return planner_ ? planner_->next() : reader_->next();
}

const std::vector<Discard>& StepSource::discards() const {
    return planner_ ? planner_->discards() : reader_->discards();
}

std::vector<std::string> StepSource::notices() const {
    return planner_ ? planner_->notices() : reader_->header().notices;
}

std::optional<std::int64_t> StepSource::batchesToTake() const {
    return planner_ ? planner_->batchesToTake() : std::nullopt;
}

}  // namespace ballast::cli
