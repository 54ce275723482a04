// SPDX-License-Identifier: Apache-2.0
#include "core/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/compare/statistics.h"
#include "core/store/content_hash.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

Json scenarioOf(const RunRecord& run) {
    const Json json = Json::parse(run.scenario, nullptr, false);
    return json.is_object() ? json : Json::object();
}

std::set<std::int64_t> completeSteps(const Workspace& workspace, RunId run) {
    std::set<std::int64_t> complete;
    for (const StepRecord& step : workspace.steps(run))
        if (step.complete)
            complete.insert(step.step);
    return complete;
}

/// What a run trained: its plan's pieces, or those of the steps it finished when it ended early.
std::optional<TrainedPieces> trainedPieces(const Workspace& workspace, const RunRecord& run) {
    if (!run.plan)
        return std::nullopt;
    const PlanRecord plan = workspace.plan(*run.plan);
    const std::set<std::int64_t> complete = completeSteps(workspace, run.id);
    if (static_cast<std::int64_t>(complete.size()) == plan.steps)
        return TrainedPieces{plan.pieces, plan.tokens, plan.content};
    TrainedPiecesHash hash;
    for (const PlanStep& step : workspace.planSteps(*run.plan))
        if (complete.contains(step.step))
            hash.add(step);
    return hash.result();
}

void comparePieces(Comparison& comparison, const Workspace& workspace, const RunRecord& a,
                   const RunRecord& b) {
    const auto mine = trainedPieces(workspace, a);
    const auto theirs = trainedPieces(workspace, b);
    if (!mine || !theirs)
        comparison.whyNot.push_back(
            fmt::format("run {} has no stored plan, so that its pieces are not known", mine ? b.id : a.id));
    else if (mine->hash != theirs->hash)
        comparison.whyNot.push_back(fmt::format("not the same pieces: {} of {} tokens and {} of {} tokens",
                                                mine->pieces, mine->tokens, theirs->pieces, theirs->tokens));
}

void compareScenarios(Comparison& comparison, const RunRecord& a, const RunRecord& b) {
    const Json mine = scenarioOf(a);
    const Json theirs = scenarioOf(b);
    for (const char* key : {"source", "window", "overlong", "cut", "order", "seed", "epochs"}) {
        const Json nothing;
        const Json left = mine.value("lengths", Json::object()).value(key, nothing);
        const Json right = theirs.value("lengths", Json::object()).value(key, nothing);
        if (left != right)
            comparison.whyNot.push_back(
                fmt::format("not the same lengths.{}: {} and {}", key, left.dump(), right.dump()));
    }
    const Json left = mine.value("model", Json());
    const Json right = theirs.value("model", Json());
    if (left != right)
        comparison.whyNot.push_back(fmt::format("not the same model: {} and {}", left.dump(), right.dump()));
}

void compareClocks(Comparison& comparison, const RunRecord& a, const RunRecord& b) {
    if (a.clock == b.clock)
        return;
    const bool predicted = a.clock == Clock::Simulated || b.clock == Clock::Simulated;
    comparison.whyNot.push_back(
        fmt::format("not the same clock: {} and {}{}", clockName(a.clock), clockName(b.clock),
                    predicted ? "; only compute and waiting can be held against each other" : ""));
}

void addNotices(Comparison& comparison, const RunFigures& a, const RunFigures& b) {
    const int mine = a.run.layout.worldSize();
    const int theirs = b.run.layout.worldSize();
    if (mine != theirs)
        comparison.notices.push_back(fmt::format(
            "not the same number of ranks: {} and {}; seconds per token are those of the whole job", mine,
            theirs));
    if (a.run.tokensAre == "synthetic" || b.run.tokensAre == "synthetic")
        comparison.notices.push_back("synthetic tokens: the loss says nothing about real text");
    for (const RunFigures* figures : {&a, &b})
        if (figures->run.plannedSteps > figures->steps)
            comparison.notices.push_back(fmt::format("run {} finished {} of {} planned steps",
                                                     figures->run.id, figures->steps,
                                                     figures->run.plannedSteps));
}

/// Steps of the longest common beginning of the two plans.
std::int64_t commonBeginning(const std::vector<PlanStepRecord>& a, const std::vector<PlanStepRecord>& b) {
    std::int64_t common = 0;
    while (common < std::ssize(a) && common < std::ssize(b) && a[common].content == b[common].content)
        ++common;
    return common;
}

double secondsPerTokenOfFirst(const std::vector<StepRecord>& steps, std::int64_t count) {
    double seconds = 0;
    std::int64_t tokens = 0;
    for (std::int64_t index = 0; index < count; ++index) {
        seconds += toSeconds(steps[index].end - steps[index].begin).value();
        tokens += steps[index].tokens;
    }
    return tokens > 0 ? seconds / static_cast<double>(tokens) : 0;
}

}  // namespace

double repeatNoise(const Workspace& workspace, const RunRecord& run) {
    if (!run.plan)
        return 0;
    Json scenario = scenarioOf(run);
    scenario["steps"] = nullptr;
    const std::vector<PlanStepRecord> plan = workspace.planStepRecords(*run.plan);
    std::int64_t common = std::ssize(plan);
    std::vector<std::vector<StepRecord>> repeats;
    for (const RunRecord& candidate : workspace.runs()) {
        if (candidate.kind != run.kind || candidate.clock != run.clock || !candidate.plan ||
            candidate.state != RunState::Done || candidate.layout != run.layout)
            continue;
        Json theirs = scenarioOf(candidate);
        theirs["steps"] = nullptr;
        if (theirs != scenario)
            continue;
        std::vector<StepRecord> steps = workspace.steps(candidate.id);
        const std::int64_t shared =
            std::min(commonBeginning(plan, workspace.planStepRecords(*candidate.plan)), std::ssize(steps));
        if (shared == 0)
            continue;
        common = std::min(common, shared);
        repeats.push_back(std::move(steps));
    }
    std::vector<double> figures;
    for (const std::vector<StepRecord>& steps : repeats)
        figures.push_back(secondsPerTokenOfFirst(steps, common));
    return relativeSpread(figures);
}

Comparison compare(const Workspace& workspace, const Baseline& baseline, RunId other) {
    Comparison comparison;
    comparison.baseline = baseline.figures;
    comparison.other = runFigures(workspace, other);
    const RunRecord& a = comparison.baseline.run;
    const RunRecord& b = comparison.other.run;
    compareClocks(comparison, a, b);
    compareScenarios(comparison, a, b);
    comparePieces(comparison, workspace, a, b);
    for (const RunFigures* figures : {&comparison.baseline, &comparison.other})
        if (figures->steps == 0)
            comparison.whyNot.push_back(fmt::format("run {} has no finished step", figures->run.id));
    comparison.comparable = comparison.whyNot.empty();
    addNotices(comparison, comparison.baseline, comparison.other);
    if (comparison.baseline.secondsPerToken > 0)
        comparison.secondsPerTokenDelta =
            comparison.other.secondsPerToken / comparison.baseline.secondsPerToken - 1;
    comparison.noise = std::max(repeatNoise(workspace, a), repeatNoise(workspace, b));
    return comparison;
}

std::optional<PredictionError> predictionError(const Workspace& workspace, const RunFigures& measured) {
    if (!measured.run.prediction)
        return std::nullopt;
    const std::set<std::int64_t> mine = completeSteps(workspace, measured.run.id);
    const std::set<std::int64_t> theirs = completeSteps(workspace, *measured.run.prediction);
    std::set<std::int64_t> common;
    std::ranges::set_intersection(mine, theirs, std::inserter(common, common.end()));
    if (common.empty())
        return std::nullopt;
    PredictionError error;
    const auto sum = [&](RunId run, double& compute, double& waiting) {
        for (const RankStepRecord& rank : workspace.rankSteps(run)) {
            if (!common.contains(rank.step))
                continue;
            compute += rank.breakdown.computeSeconds();
            waiting += rank.breakdown.waitingSeconds;
        }
    };
    sum(*measured.run.prediction, error.predictedComputeSeconds, error.predictedWaitingSeconds);
    sum(measured.run.id, error.measuredComputeSeconds, error.measuredWaitingSeconds);
    return error;
}

}  // namespace ballast
