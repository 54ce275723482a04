// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/studio/studio_fixture.h"

#include <gtest/gtest.h>

#include "core/plan/planner.h"
#include "core/store/simulated_run.h"

namespace ballast::studio::testing {

Scenario smallScenario(const std::string& packing, const std::string& sharding) {
    Scenario scenario;
    scenario.lengths.source = {"wlb-4k"};
    scenario.lengths.window = 4096;
    scenario.model = "demo";
    scenario.cluster = "h100-dgx";
    scenario.layout = {1, 2, 2, 2};
    scenario.microBatches = 2;
    scenario.steps = 4;
    scenario.packing.strategy = packing;
    scenario.packing.thresholds = std::vector<std::int64_t>{2048};
    scenario.packing.queues = 1;
    scenario.packing.maxTokens = 6144;
    scenario.sharding.strategy = sharding;
    return scenario;
}

RunId storeRun(const std::filesystem::path& file, const Scenario& scenario) {
    Planner planner(scenario);
    const std::vector<PlanStep> steps = planAll(planner);
    Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
    return storeSimulation(workspace, planner.header(), steps, planner.discards(),
                           scenario.packing.strategy + " + " + scenario.sharding.strategy)
        .run;
}

void settle(const Workers& workers) {
    ASSERT_TRUE(waitUntilIdle(workers, 120)) << "the workers are still busy";
}

}  // namespace ballast::studio::testing
