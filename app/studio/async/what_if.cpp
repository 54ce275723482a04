// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/what_if.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/simulator/simulation.h"

namespace ballast::studio {
namespace {

std::optional<double> mfuOf(const SimulationSummary& summary, const CostModel& cost) {
    const char* precision = cost.activationBytes() == 2 ? "bf16" : "fp32";
    if (!cost.cluster().peakTflops.contains(precision))
        return std::nullopt;
    return summary.mfu(cost.cluster().peakFlops(precision), cost.layout().worldSize());
}

WhatIfFigures figuresOf(const SimulatedScenario& simulated, const SimulationSummary& simulation,
                        const PackingSummary& packing) {
    WhatIfFigures figures;
    figures.medianStepSeconds = simulation.medianStepSeconds();
    figures.p5StepSeconds = simulation.stepSecondsPercentile(5);
    figures.p95StepSeconds = simulation.stepSecondsPercentile(95);
    figures.secondsPerToken = simulation.secondsPerToken();
    figures.tokensPerSecond = simulation.tokensPerSecond();
    figures.imbalanceDegree = packing.imbalanceDegree();
    figures.meanDelaySteps = packing.meanDelaySteps();
    figures.bubble = simulation.bubble();
    figures.bubbleSchedule = simulation.bubbleSchedule();
    figures.mfu = mfuOf(simulation, simulated.cost());
    figures.memory = simulation.memory();
    figures.breakdown = simulation.meanBreakdown();
    figures.tokens = packing.tokens();
    return figures;
}

}  // namespace

Scenario unbalanced(Scenario scenario) {
    scenario.packing.strategy = "sequential";
    scenario.sharding.strategy = "per-sequence";
    return scenario;
}

std::int64_t whatIfBatches(const Scenario& scenario) {
    return std::clamp<std::int64_t>(scenario.steps.value_or(kWhatIfBatches), 1, kWhatIfBatches);
}

std::shared_ptr<const SimulatedScenario> simulateScenario(const Scenario& scenario, std::int64_t batches,
                                                          const std::function<bool()>& cancelled) {
    refuseUnbuilt(scenario, "scenario");
    auto simulated = std::make_shared<SimulatedScenario>();
    simulated->planner = std::make_shared<Planner>(scenario, batches);
    Planner& planner = *simulated->planner;
    SimulationSummary simulation;
    PackingSummary packing(planner.cost());
    SimulationOptions options;
    options.recordSpans = false;
    options.overlapSlowdown = planner.header().cluster.overlapSlowdown;
    while (true) {
        if (cancelled())
            return nullptr;
        std::optional<PlanStep> step = planner.next();
        if (!step)
            break;
        simulated->steps.push_back(simulateStep(stepWork(*step, planner.cost()), planner.cost(), options));
        simulation.add(simulated->steps.back());
        packing.add(packedStep(*step));
        simulated->batches += step->kind != StepKind::Drain;
        simulated->plan.push_back(std::move(*step));
    }
    if (simulated->plan.empty())
        throw Error("lengths.source: " + planner.source().description() +
                    " has no document to train on; choose a source with documents that fit the window");
    packing.addWaiting(planner.waiting(), simulated->plan.back().step);
    simulated->figures = figuresOf(*simulated, simulation, packing);
    simulated->notices = planner.notices();
    for (std::string& notice : planner.cost().notices()) {
        if (std::find(simulated->notices.begin(), simulated->notices.end(), notice) ==
            simulated->notices.end())
            simulated->notices.push_back(std::move(notice));
    }
    return simulated;
}

std::shared_ptr<const StepTimeline> simulateOne(const SimulatedScenario& scenario, std::size_t index) {
    SimulationOptions options;
    options.overlapSlowdown = scenario.header().cluster.overlapSlowdown;
    SimulatedStep step =
        simulateStep(stepWork(scenario.plan.at(index), scenario.cost()), scenario.cost(), options);
    return std::make_shared<const StepTimeline>(std::move(step.timeline));
}

}  // namespace ballast::studio
