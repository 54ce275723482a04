// SPDX-License-Identifier: Apache-2.0
#include "core/reproduce/trial.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/packing/packing_summary.h"
#include "core/plan/planner.h"
#include "core/simulator/simulation.h"

namespace ballast {
namespace {

constexpr std::int64_t k64K = 65536;
constexpr std::int64_t k128K = 131072;

}  // namespace

const std::vector<PaperConfiguration>& paperConfigurations() {
    static const std::vector<PaperConfiguration> configurations = {
        {"550M-64K", "wlb-550m", k64K, {2, 2, 2, 4}}, {"550M-128K", "wlb-550m", k128K, {2, 4, 1, 4}},
        {"7B-64K", "llama2-7b", k64K, {4, 2, 1, 4}},  {"7B-128K", "llama2-7b", k128K, {8, 2, 1, 4}},
        {"30B-64K", "wlb-30b", k64K, {8, 2, 1, 4}},   {"30B-128K", "wlb-30b", k128K, {8, 4, 1, 4}},
        {"70B-64K", "wlb-70b", k64K, {16, 4, 1, 4}},  {"70B-128K", "wlb-70b", k128K, {16, 4, 1, 4}},
    };
    return configurations;
}

const PaperConfiguration& paperConfiguration(std::string_view name) {
    const auto found = std::ranges::find(paperConfigurations(), name, &PaperConfiguration::name);
    BALLAST_CHECK(found != paperConfigurations().end());
    return *found;
}

Scenario paperScenario(const PaperConfiguration& configuration) {
    Scenario scenario;
    scenario.lengths.window = configuration.window;
    scenario.model = configuration.model;
    scenario.layout = configuration.layout;
    scenario.microBatches = configuration.layout.pp;
    // The paper bounds a micro-batch by S_max and does not publish it; a quarter over the window.
    scenario.packing.maxTokens = configuration.window + configuration.window / 4;
    return scenario;
}

Scenario withStrategies(Scenario scenario, std::string packing, std::string sharding) {
    scenario.packing.strategy = std::move(packing);
    scenario.sharding.strategy = std::move(sharding);
    return scenario;
}

PackingTrial tryPacking(const Scenario& scenario, std::int64_t steps, CostPass pass) {
    Planner planner(scenario, steps, pass);
    PackingSummary summary(planner.cost());
    PackingTrial trial;
    std::int64_t count = 0;
    while (const std::optional<PlanStep> step = planner.next()) {
        summary.add(packedStep(*step));
        trial.packMilliseconds += step->packMilliseconds;
        ++count;
    }
    trial.imbalanceDegree = summary.imbalanceDegreeMeanOfSteps();
    trial.meanDelaySteps = summary.meanDelaySteps();
    trial.packMilliseconds /= static_cast<double>(std::max<std::int64_t>(count, 1));
    return trial;
}

double secondsPerToken(const Scenario& scenario, std::int64_t steps,
                       const std::function<StepWork(StepWork)>& change) {
    Planner planner(scenario, steps);
    SimulationSummary summary;
    SimulationOptions options;
    options.recordSpans = false;
    options.overlapSlowdown = planner.header().cluster.overlapSlowdown;
    while (const std::optional<PlanStep> step = planner.next()) {
        StepWork work = stepWork(*step, planner.cost());
        summary.add(simulateStep(change ? change(std::move(work)) : work, planner.cost(), options));
    }
    return summary.secondsPerToken();
}

}  // namespace ballast
