// SPDX-License-Identifier: Apache-2.0
#include "core/store/simulated_run.h"

#include <cmath>
#include <limits>
#include <map>

#include "core/store/ingest.h"

namespace ballast {
namespace {

std::int64_t spanCount(const StepTimeline& timeline) {
    std::int64_t count = 0;
    for (const RankSpans& rank : timeline.ranks)
        count += static_cast<std::int64_t>(rank.spans.size());
    return count;
}

std::vector<RankStepRecord> rankFigures(const SimulatedStep& simulated) {
    std::vector<RankStepRecord> figures;
    for (std::size_t rank = 0; rank < simulated.ranks.size(); ++rank)
        figures.push_back({simulated.timeline.step, static_cast<int>(rank), simulated.ranks[rank], {}});
    return figures;
}

RunRecord runRecord(const PlanHeader& header, const std::vector<PlanStep>& steps, std::int64_t plan,
                    const std::string& name) {
    RunRecord run;
    run.kind = RunKind::Simulated;
    // What stays if the program is killed on the way; there is no runner that could tell later.
    run.state = RunState::Failed;
    run.failure = "the simulation was interrupted while it was stored";
    run.clock = Clock::Simulated;
    run.layout = header.scenario.layout;
    run.name = name;
    run.scenario = scenarioJson(header.scenario);
    run.plan = plan;
    run.plannedSteps = static_cast<std::int64_t>(steps.size());
    run.costModelVersion = header.costModelVersion;
    return run;
}

}  // namespace

StoredSimulation storeSimulation(Workspace& workspace, const PlanHeader& header,
                                 const std::vector<PlanStep>& steps, const std::vector<Discard>& discards,
                                 const std::string& name, Clock predicted,
                                 const std::function<void(const SimulatedStep&)>& stepDone) {
    const CostModel cost(header.scenario, header.model, header.cluster);
    SimulationOptions options;
    options.overlapSlowdown = predicted == Clock::Virtual ? 1.0 : header.cluster.overlapSlowdown;

    StoredSimulation stored;
    stored.plan = workspace.addPlan(header, steps, discards);
    stored.run = workspace.addRun(runRecord(header, steps, stored.plan, name));
    const std::map<std::int64_t, double> degrees = imbalanceDegrees(workspace.microBatches(stored.plan));
    std::int64_t spans = 0;
    Nanoseconds begin = 0;
    for (const PlanStep& step : steps) {
        options.recordSpans = spans < kSpansKept;
        SimulatedStep simulated = simulateStep(stepWork(step, cost), cost, options, begin);
        simulated.timeline.step = step.step;
        for (RankSpans& rank : simulated.timeline.ranks)
            rank.recorded = options.recordSpans;
        spans += spanCount(simulated.timeline);

        StepRecord record;
        record.step = step.step;
        record.begin = begin;
        record.end = begin + toNanoseconds(simulated.stepTime);
        record.tokens = step.tokens();
        record.targets = step.targets();
        record.gradientNorm = std::numeric_limits<double>::quiet_NaN();
        const auto degree = degrees.find(step.step);
        record.imbalanceDegree = degree == degrees.end() ? 1 : degree->second;
        workspace.addStep(stored.run, record, simulated.timeline, rankFigures(simulated));
        begin = record.end;
        ++stored.steps;
        stored.tokens += record.tokens;
        if (stepDone)
            stepDone(simulated);
    }
    workspace.setRunState(stored.run, RunState::Done);
    return stored;
}

}  // namespace ballast
