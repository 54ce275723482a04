// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/run_lock.h"
#include "core/dispatch/runner.h"
#include "core/plan/plan_file.h"
#include "core/plan/planner.h"
#include "core/store/simulated_run.h"
#include "core/workload/token_source.h"

namespace ballast {
namespace {

struct PlannedRun {
    PlanHeader header;
    std::vector<PlanStep> steps;
    std::vector<Discard> discards;
};

PlannedRun planOf(const RunRequest& request) {
    PlannedRun planned;
    if (!request.plan) {
        refuseUnbuilt(request.scenario, "run");
        Planner planner(request.scenario, request.steps);
        planned.steps = planAll(planner);
        planned.header = planner.header();
        planned.header.notices = planner.notices();
        planned.discards = planner.discards();
        return planned;
    }
    PlanReader reader(*request.plan);
    while (std::optional<PlanStep> step = reader.next())
        planned.steps.push_back(std::move(*step));
    planned.header = reader.header();
    planned.discards = reader.discards();
    refuseUnbuilt(planned.header.scenario, "run");
    if (request.steps)
        throw Error(fmt::format("run: steps={} can't change the plan {}, which has {} steps; leave it out",
                                *request.steps, request.plan->string(), planned.steps.size()));
    return planned;
}

Clock clockOf(const RunRequest& request) {
    for (const Clock clock : {Clock::Wall, Clock::Virtual})
        if (clockName(clock) == request.clock)
            return clock;
    throw Error(fmt::format("run: clock={}: expected wall or virtual", request.clock));
}

void checkRequest(const RunRequest& request) {
    if (request.device == "cuda")
        throw Error("run: device=cuda is not built yet; use cpu");
    if (request.device != "cpu")
        throw Error(fmt::format("run: device={}: expected cpu or cuda", request.device));
    if (request.launcher == "ssh" || request.launcher == "slurm")
        throw Error(fmt::format("run: launcher={} is not built yet; use local", request.launcher));
    if (request.launcher != "local")
        throw Error(fmt::format("run: launcher={}: expected local, ssh or slurm", request.launcher));
    if (request.exportStep && request.exportDirectory.empty())
        throw Error("run: export-step needs export-dir, the folder to write to");
    if (!request.exportStep && !request.exportDirectory.empty())
        throw Error("run: export-dir needs export-step, the step to export");
}

void checkPlan(const RunRequest& request, const PlannedRun& planned) {
    const Scenario& scenario = planned.header.scenario;
    if (scenario.precision == "bf16")
        throw Error("run: precision=bf16 needs device=cuda, which is not built yet; use auto or fp32");
    if (planned.steps.empty())
        throw Error("run: the plan has no step: nothing to train");
    if (request.exportStep) {
        const auto found = std::ranges::find(planned.steps, *request.exportStep, &PlanStep::step);
        if (found == planned.steps.end())
            throw Error(fmt::format("run: export-step={}: the plan has steps {} to {}", *request.exportStep,
                                    planned.steps.front().step, planned.steps.back().step));
    }
}

std::string runName(const Scenario& scenario) {
    return scenario.packing.strategy + " + " + scenario.sharding.strategy;
}

void writePlan(const std::filesystem::path& file, const PlannedRun& planned) {
    PlanWriter writer(file, planned.header);
    for (const PlanStep& step : planned.steps)
        writer.write(step);
    writer.finish(planned.discards);
}

}  // namespace

RunId prepareRun(const RunRequest& request) {
    checkRequest(request);
    const Clock clock = clockOf(request);
    const PlannedRun planned = planOf(request);
    checkPlan(request, planned);
    const Scenario& scenario = planned.header.scenario;
    RunRequest complete = request;
    complete.scenario = scenario;
    launchCommand(complete, "check");  // what it needs must be there before anything is written
    const auto tokens = openTokenSource(scenario.lengths, planned.header.model.vocabularySize);
    tokens->checkAll();

    Workspace workspace =
        Workspace::open(std::filesystem::absolute(request.workspace), Workspace::Mode::ReadWrite);
    const std::string json = scenarioJson(scenario);
    if (workspace.latestScenario() != json)
        workspace.addScenario(json, std::nullopt, runName(scenario));
    const StoredSimulation simulation =
        storeSimulation(workspace, planned.header, planned.steps, planned.discards, runName(scenario), clock);
    RunRecord run;
    run.kind = RunKind::Measured;
    run.state = RunState::Planned;
    run.clock = clock;
    run.layout = scenario.layout;
    run.name = runName(scenario);
    run.scenario = json;
    run.tokensAre = tokens->fromFile() ? "file" : "synthetic";
    run.host = RunProcess::current(kRunnerRank).host;
    run.prediction = simulation.run;
    run.plan = simulation.plan;
    run.plannedSteps = simulation.steps;
    run.costModelVersion = planned.header.costModelVersion;
    const RunId id = workspace.addRun(run);

    const RunDirectory directory(workspace.runDirectory(id));
    TrainJob job;
    job.scenario = json;
    job.device = request.device;
    job.clock = request.clock;
    job.exportStep = request.exportStep;
    if (request.exportStep)
        job.exportDirectory = std::filesystem::absolute(request.exportDirectory).string();
    job.plan = "plan";
    job.arguments = launchCommand(complete, directory.path());
    // A folder left by a workspace of the same name that was deleted must not be taken for this run's.
    if (RunLock::isHeld(directory.lockFile()))
        throw Error(fmt::format("{}: a run of an earlier workspace of this name still goes on there",
                                directory.path().string()),
                    ErrorCode::WorkFailed);
    std::filesystem::remove_all(directory.path());
    directory.create(job);
    writePlan(directory.planFile(), planned);
    return id;
}

}  // namespace ballast
