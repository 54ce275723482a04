// SPDX-License-Identifier: Apache-2.0
#include "app/cli/compared_runs.h"

#include <fmt/core.h>
#include <stdlib.h>

#include <charconv>

#include "core/base/error.h"
#include "core/plan/plan_file.h"
#include "core/store/content_hash.h"
#include "core/store/simulated_run.h"

namespace ballast::cli {

namespace {

/// What a name on the command line stands for.
struct Named {
    std::optional<RunId> run;
    std::string plan;
};

Named parse(const std::string& name) {
    if (name.starts_with("trace:"))
        throw Error(fmt::format("compare: {}: traces are not built yet; use run:ID or plan:FILE", name));
    if (name.starts_with("plan:"))
        return {std::nullopt, name.substr(5)};
    const std::string number = name.starts_with("run:") ? name.substr(4) : name;
    RunId run = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), run);
    if (problem != std::errc() || end != number.data() + number.size() || run < 1)
        throw Error(fmt::format("compare: \"{}\": expected run:ID, a bare run number, or plan:FILE", name));
    return {run, ""};
}

std::filesystem::path makeTemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ballast-compare-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw Error(fmt::format("{}: cannot make a temporary folder", pattern), ErrorCode::WorkFailed);
    return pattern;
}

/// A finished simulation of the same steps under the same scenario and cost model.
std::optional<RunId> findSimulation(const Workspace& workspace, const PlanHeader& header,
                                    const std::vector<PlanStep>& steps) {
    const std::string scenario = scenarioJson(header.scenario);
    for (const RunRecord& run : workspace.runs()) {
        if (run.kind != RunKind::Simulated || run.state != RunState::Done || !run.plan ||
            run.scenario != scenario || run.costModelVersion != header.costModelVersion)
            continue;
        const PlanHeader stored = workspace.planHeader(*run.plan);
        const auto records = workspace.planStepRecords(*run.plan);
        if (stored.cluster != header.cluster || stored.model != header.model ||
            records.size() != steps.size())
            continue;
        bool same = true;
        for (std::size_t step = 0; same && step < steps.size(); ++step)
            same = records[step].content == stepContent(steps[step]);
        if (same)
            return run.id;
    }
    return std::nullopt;
}

RunId simulatePlan(Workspace& workspace, const std::string& file) {
    PlanReader reader(file);
    std::vector<PlanStep> steps;
    while (auto step = reader.next())
        steps.push_back(std::move(*step));
    if (const auto found = findSimulation(workspace, reader.header(), steps))
        return *found;
    const Scenario& scenario = reader.header().scenario;
    return storeSimulation(workspace, reader.header(), steps, reader.discards(),
                           scenario.packing.strategy + " + " + scenario.sharding.strategy)
        .run;
}

}  // namespace

ComparedRuns::ComparedRuns(const std::array<std::string, 2>& names, const std::string& workspace) {
    const std::array<Named, 2> named = {parse(names[0]), parse(names[1])};
    const bool needsPlan = !named[0].run || !named[1].run;
    const bool needsRun = named[0].run || named[1].run;
    if (needsRun && workspace.empty())
        throw Error("compare: a run needs --workspace W, the file that holds it");
    std::string file = workspace;
    if (needsRun && !std::filesystem::exists(file))
        throw Error(fmt::format("{}: there is no such workspace", file));
    if (file.empty()) {
        temporaryFolder_ = makeTemporaryFolder();
        file = (temporaryFolder_ / "compare.ballast").string();
    }
    workspace_ = Workspace::open(file, needsPlan ? Workspace::Mode::ReadWrite : Workspace::Mode::ReadOnly);
    for (std::size_t index = 0; index < named.size(); ++index)
        runs_[index] = named[index].run ? *named[index].run : simulatePlan(*workspace_, named[index].plan);
}

ComparedRuns::~ComparedRuns() {
    workspace_.reset();
    std::error_code ignored;
    if (!temporaryFolder_.empty())
        std::filesystem::remove_all(temporaryFolder_, ignored);
}

}  // namespace ballast::cli
