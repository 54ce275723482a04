// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/readable.h"
#include "app/cli/run_answer.h"
#include "core/dispatch/runner.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string workspace;
    RunId shown = 0;
    bool json = false;
};

std::string localTime(std::int64_t secondsSince1970) {
    const std::time_t time = secondsSince1970;
    std::tm parts{};
    ::localtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

std::int64_t finishedSteps(const Workspace& workspace, RunId run) {
    std::int64_t finished = 0;
    for (const StepRecord& step : workspace.steps(run))
        finished += step.complete ? 1 : 0;
    return finished;
}

int list(const Arguments& arguments) {
    const Workspace workspace = Workspace::open(arguments.workspace, Workspace::Mode::ReadOnly);
    Json answers = Json::array();
    TextTable table({"run", "kind", "state", "clock", "steps", "ranks", "prediction", "created", "name"});
    for (const RunRecord& run : workspace.runs()) {
        const std::int64_t steps = finishedSteps(workspace, run.id);
        const std::string_view state = runStateName(currentState(workspace, run));
        answers.push_back({{"id", run.id},
                           {"kind", runKindName(run.kind)},
                           {"state", state},
                           {"steps", steps},
                           {"planned_steps", run.plannedSteps},
                           {"name", run.name},
                           {"clock", clockName(run.clock)},
                           {"world_size", run.layout.worldSize()},
                           {"prediction", run.prediction ? Json(*run.prediction) : Json()},
                           {"created_at", run.createdAt}});
        table.add({fmt::format("{}", run.id), std::string(runKindName(run.kind)), std::string(state),
                   std::string(clockName(run.clock)), fmt::format("{} of {}", steps, run.plannedSteps),
                   fmt::format("{}", run.layout.worldSize()),
                   run.prediction ? fmt::format("{}", *run.prediction) : "-", localTime(run.createdAt),
                   run.name});
    }
    if (arguments.json)
        printAnswer(Json{{"runs", std::move(answers)}}.dump());
    else
        fmt::print("{}", table.text());
    return kDone;
}

int show(const Arguments& arguments) {
    const Workspace workspace = Workspace::open(arguments.workspace, Workspace::Mode::ReadOnly);
    const RunRecord run = workspace.run(arguments.shown);
    if (arguments.json) {
        printAnswer(runAnswerJson(workspace, run));
        return kDone;
    }
    const Layout& layout = run.layout;
    fmt::print("run {}: {}, {}, {} clock, layout tp {} cp {} dp {} pp {}, {}, created {}\n", run.id, run.name,
               runStateName(currentState(workspace, run)), clockName(run.clock), layout.tp, layout.cp,
               layout.dp, layout.pp, tokensSentence(run), localTime(run.createdAt));
    if (!run.failure.empty())
        fmt::print("{}\n", run.failure);
    fmt::print("{}\n", stepHeading());
    for (const StepRecord& step : workspace.steps(run.id))
        fmt::print("{}\n", stepLine(step));
    return kDone;
}

}  // namespace

void addRunsCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("runs", "lists the runs of a workspace, or shows one");
    command->require_subcommand(0, 1);
    command->add_option("--workspace", arguments->workspace, "workspace file (.ballast)")->required();
    command->add_flag("--json", arguments->json, "one JSON document on stdout");
    CLI::App* showing = command->add_subcommand("show", "one run with its steps");
    showing->fallthrough();
    showing->add_option("id", arguments->shown, "number of the run")->required();
    command->callback([&program, arguments, showing] {
        program.action = [arguments, showing] {
            return showing->parsed() ? show(*arguments) : list(*arguments);
        };
    });
}

}  // namespace ballast::cli
