// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/interrupts.h"
#include "app/cli/progress_bar.h"
#include "app/cli/run_answer.h"
#include "app/cli/scenario_arguments.h"
#include "core/base/error.h"
#include "core/dispatch/runner.h"

namespace ballast::cli {

namespace {

struct Arguments {
    ScenarioArguments scenario;
    RunRequest request;
    std::string workspace;
    std::string attach;
    bool detach = false;
    bool dryRun = false;
};

/// A run in its workspace.
struct RunPlace {
    std::filesystem::path workspace;
    RunId run = 0;
};

/// <workspace>.runs/<id> taken apart.
RunPlace placeOf(const std::string& directory) {
    std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
    if (!path.has_filename())
        path = path.parent_path();
    const std::string id = path.filename().string();
    std::string workspace = path.parent_path().string();
    RunPlace place;
    const auto [end, problem] = std::from_chars(id.data(), id.data() + id.size(), place.run);
    constexpr std::string_view kSuffix = ".runs";
    if (problem != std::errc() || end != id.data() + id.size() || !workspace.ends_with(kSuffix))
        throw Error(fmt::format("--attach {}: expected a run directory, WORKSPACE.runs/ID", directory));
    workspace.resize(workspace.size() - kSuffix.size());
    place.workspace = workspace;
    if (!std::filesystem::exists(place.workspace))
        throw Error(fmt::format("--attach {}: there is no workspace {}", directory, workspace));
    return place;
}

std::filesystem::path directoryOf(const RunPlace& place) {
    return Workspace::open(place.workspace, Workspace::Mode::ReadOnly).runDirectory(place.run);
}

/// The answer once nobody follows any more; `state` absent: detached.
int finish(const RunPlace& place, std::optional<RunState> state, bool json) {
    const Workspace workspace = Workspace::open(place.workspace, Workspace::Mode::ReadOnly);
    const RunRecord run = workspace.run(place.run);
    if (json)
        printAnswer(runAnswerJson(workspace, run));
    else if (state)
        fmt::print("run {} is {}\n", place.run, runStateName(*state));
    if (!state) {
        fmt::print(stderr, "run {} goes on; attach to it with: ballast run --attach {}\n", place.run,
                   workspace.runDirectory(place.run).string());
        return kDone;
    }
    if (*state == RunState::Done || *state == RunState::Stopped)
        return kDone;
    fmt::print(
        stderr, "ballast: run {} {}: {}\n", place.run, runStateName(*state),
        run.failure.empty() ? "its logs are in " + workspace.runDirectory(place.run).string() : run.failure);
    return kWorkFailed;
}

int follow(const RunPlace& place, bool json) {
    std::int64_t planned = 0;
    {
        const Workspace workspace = Workspace::open(place.workspace, Workspace::Mode::ReadOnly);
        const RunRecord run = workspace.run(place.run);
        planned = run.plannedSteps;
        if (!json)
            fmt::print("run {}: {}, {} ranks, {} clock, {}\n{}\n", run.id, run.name, run.layout.worldSize(),
                       clockName(run.clock), tokensSentence(run), stepHeading());
    }
    const Interrupts interrupts;
    bool stopRequested = false;
    ProgressBar bar("training, steps", planned > 0 ? std::optional(planned) : std::nullopt);
    RunFollower follower;
    follower.onStep = [&](const StepRecord& step) {
        if (!json) {
            fmt::print("{}\n", stepLine(step));
            std::fflush(stdout);
        } else {
            bar.show(step.step + 1);
        }
    };
    follower.keepFollowing = [&] {
        if (interrupts.count() > 0 && !stopRequested) {
            stopRequested = true;
            requestStop(Workspace::open(place.workspace, Workspace::Mode::ReadOnly), place.run);
            fmt::print(stderr, "\nstopping after this step; Ctrl+C again leaves the run alone\n");
        }
        return interrupts.count() < 2 && !interrupts.shouldLeave();
    };
    return finish(place, followRun(place.workspace, place.run, follower), json);
}

RunRequest requestOf(const Arguments& arguments) {
    RunRequest request = arguments.request;
    const ScenarioArguments& scenario = arguments.scenario;
    if (scenario.file.empty())
        throw Error("run: expected a scenario or plan file, or --attach DIR");
    if (arguments.workspace.empty())
        throw Error("run: expected --workspace W, the file that the run is stored in");
    request.workspace = arguments.workspace;
    if (!scenario.isPlan()) {
        request.scenario = scenario.load("run");
        request.steps = scenario.steps;
        return request;
    }
    if (!scenario.assignments.empty() || scenario.steps)
        throw Error(fmt::format("run: {} is a plan, which --set and --steps cannot change; leave them out",
                                scenario.file));
    request.plan = scenario.file;
    request.scenario = PlanReader(scenario.file).header().scenario;
    return request;
}

int dryRun(const RunRequest& request, bool json) {
    const auto command =
        launchCommand(request, std::filesystem::path(request.workspace.string() + ".runs") / "ID");
    if (json)
        printAnswer(nlohmann::ordered_json{{"command", command}}.dump());
    else
        fmt::print("{}\n", fmt::join(command, " "));
    return kDone;
}

int run(const Arguments& arguments) {
    const bool json = arguments.scenario.json;
    if (!arguments.attach.empty()) {
        if (!arguments.scenario.file.empty())
            throw Error("run: --attach DIR takes up a run that exists; leave the scenario out");
        const RunPlace place = placeOf(arguments.attach);
        return follow(place, json);
    }
    const RunRequest request = requestOf(arguments);
    if (arguments.dryRun)
        return dryRun(request, json);
    const RunPlace place{std::filesystem::absolute(request.workspace), prepareRun(request)};
    startRunner(place.workspace, place.run);
    if (!arguments.detach)
        return follow(place, json);
    if (json) {
        const Workspace workspace = Workspace::open(place.workspace, Workspace::Mode::ReadOnly);
        printAnswer(runAnswerJson(workspace, workspace.run(place.run)));
    } else {
        fmt::print("run {} started; follow it with: ballast run --attach {}\n", place.run,
                   directoryOf(place).string());
    }
    return kDone;
}

}  // namespace

void addRunCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    RunRequest& request = arguments->request;
    CLI::App* command = program.app.add_subcommand("run", "trains a scenario or plan for real");
    arguments->scenario.addTo(*command, true);
    command->get_option("scenario-or-plan")->required(false);
    command->add_option("--workspace", arguments->workspace, "workspace file (.ballast); made if needed");
    command->add_option("--device", request.device, "cpu (default) or cuda");
    command->add_option("--launcher", request.launcher, "local (default), ssh or slurm");
    command->add_option("--clock", request.clock, "wall (default) or virtual");
    command->add_option("--export-step", request.exportStep, "step whose tensors are written");
    command->add_option("--export-dir", request.exportDirectory, "folder for them");
    command->add_option("--attach", arguments->attach, "follow the run of this run directory");
    command->add_flag("--detach", arguments->detach, "start it and return at once");
    command->add_flag("--dry-run", arguments->dryRun, "print the command that would start the ranks");
    command->callback([&program, arguments] { program.action = [arguments] { return run(*arguments); }; });
}

void addRunnerCommand(Program& program) {
    struct RunnerArguments {
        std::string directory;
        std::string workspace;
        RunId run = 0;
    };
    auto arguments = std::make_shared<RunnerArguments>();
    CLI::App* command = program.app.add_subcommand("internal-runner", "supervises the ranks of one run");
    command->group("");
    command->add_option("directory", arguments->directory)->required();
    command->add_option("workspace", arguments->workspace)->required();
    command->add_option("run", arguments->run)->required();
    command->callback([&program, arguments] {
        program.action = [arguments] {
            const RunState state = superviseRun(arguments->workspace, arguments->run);
            return state == RunState::Done || state == RunState::Stopped ? kDone : kWorkFailed;
        };
    });
}

}  // namespace ballast::cli
