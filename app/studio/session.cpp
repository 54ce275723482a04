// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/session.h"

#include "app/studio/async/run_choice.h"
#include "core/base/error.h"
#include "core/store/simulated_run.h"

namespace ballast::studio {
namespace {

void computeWhatIf(const Scenario& scenario, const LatestJob<WhatIf>::Handle& job) {
    const auto cancelled = [&job] { return job.cancelled(); };
    const std::int64_t all = whatIfBatches(scenario);
    for (const std::int64_t batches : {std::min(kCoarseBatches, all), all}) {
        WhatIf result;
        result.scenario = scenario;
        result.coarse = batches < all;
        result.chosen = simulateScenario(scenario, batches, cancelled);
        if (!result.chosen)
            return;
        try {
            result.baseline = simulateScenario(unbalanced(scenario), batches, cancelled);
        } catch (const Error& error) {
            result.baselineProblem = error.what();
        }
        if (job.cancelled())
            return;
        job.deliver(std::move(result));
        if (batches == all)
            return;
    }
}

LengthsSnapshot computeLengths(const LengthsOptions& options) {
    const std::unique_ptr<LengthSource> source = openLengthSource(options.source, options.seed);
    LengthsSnapshot snapshot;
    snapshot.window = options.window;
    snapshot.statistics = lengthStatistics(*source, options.window);
    snapshot.description = source->description();
    snapshot.sentences = describeLengths(snapshot.statistics, options.window);
    snapshot.notices = source->notices();
    if (snapshot.statistics.documents > snapshot.statistics.empty)
        snapshot.attentionOfLongestPercent = attentionShareOfLongest(*source, 0.01);
    return snapshot;
}

}  // namespace

Session::Session(Workers& workers, QObject* parent)
    : QObject(parent),
      workers_(&workers),
      whatIfJob_(workers),
      lengthsJob_(workers),
      runsJob_(workers),
      storeJob_(workers) {}

Session::~Session() = default;

Scenario Session::readyScenario() {
    Scenario scenario;
    scenario.lengths.source = {"wlb-128k"};
    scenario.model = "llama2-7b";
    scenario.cluster = "h100-dgx";
    scenario.layout = {8, 2, 1, 4};
    scenario.packing.strategy = "wlb";
    scenario.sharding.strategy = "adaptive";
    return scenario;
}

void Session::setScenario(const Scenario& scenario) {
    scenario_ = scenario;
    emit scenarioChanged();
    startWhatIf();
    if (!lengthsShown_ || !(*lengthsShown_ == scenario.lengths))
        startLengths();
}

void Session::startWhatIf() {
    emit planning();
    whatIfJob_.start([scenario = scenario_](const auto& job) { computeWhatIf(scenario, job); },
                     [this](WhatIf result) {
                         whatIf_ = std::make_shared<const WhatIf>(std::move(result));
                         problem_.clear();
                         emit whatIfChanged();
                     },
                     [this](const QString& sentence) {
                         problem_ = sentence;
                         emit whatIfChanged();
                     });
}

void Session::startLengths() {
    lengthsShown_ = scenario_.lengths;
    lengthsJob_.start(
        [options = scenario_.lengths](const auto& job) { job.deliver(computeLengths(options)); },
        [this](LengthsSnapshot snapshot) {
            lengths_ = std::make_shared<const LengthsSnapshot>(std::move(snapshot));
            lengthsProblem_.clear();
            emit lengthsChanged();
        },
        [this](const QString& sentence) {
            lengths_.reset();
            lengthsProblem_ = sentence;
            emit lengthsChanged();
        });
}

void Session::openWorkspace(const std::filesystem::path& file) {
    workspace_ = file;
    runs_.reset();
    selectedRun_.reset();
    workspaceProblem_.clear();
    adoptScenario_ = true;
    emit workspaceChanged();
    emit selectedRunChanged();
    refreshRuns();
}

const std::vector<RunRow>& Session::runRows() const {
    static const std::vector<RunRow> none;
    return runs_ ? runs_->runs : none;
}

void Session::refreshRuns() {
    if (workspace_.empty())
        return;
    refreshing_ = true;
    runsJob_.start(
        [file = workspace_, known = runs_](const auto& job) { job.deliver(readRuns(file, known)); },
        [this](RunList list) { takeRuns(std::move(list)); },
        [this](const QString& sentence) {
            refreshing_ = false;
            workspaceProblem_ = sentence;
            adoptScenario_ = false;
            emit runsChanged();
            emit message(sentence);
        });
}

void Session::takeRuns(RunList list) {
    refreshing_ = false;
    runs_ = std::make_shared<const RunList>(std::move(list));
    workspaceProblem_.clear();
    emit runsChanged();
    if (!selectedRun_ && !runs_->runs.empty())
        selectRun(runToShow(*runs_).value_or(runs_->runs.back().record.id));
    if (!adoptScenario_)
        return;
    adoptScenario_ = false;
    try {
        if (runs_->latestScenario)
            setScenario(parseScenario(*runs_->latestScenario, workspace_.string(), workspace_.parent_path()));
        else if (!runs_->runs.empty())
            setScenario(parseScenario(runs_->runs.back().record.scenario, workspace_.string(),
                                      workspace_.parent_path()));
    } catch (const Error& error) {
        emit message(QString::fromUtf8(error.what()));
    }
}

void Session::selectRun(RunId run) {
    if (selectedRun_ == run)
        return;
    selectedRun_ = run;
    emit selectedRunChanged();
}

void Session::storeSimulation() {
    if (workspace_.empty()) {
        emit message(tr("Open or create a workspace first; the simulation is stored there as a run."));
        return;
    }
    emit message(tr("Planning and simulating every step for the workspace \u2026"));
    storeJob_.start(
        [file = workspace_, scenario = scenario_](const auto& job) {
            Planner planner(scenario);
            const std::vector<PlanStep> steps = planAll(planner);
            Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
            workspace.addScenario(scenarioJson(scenario), std::nullopt, "stored with its simulation");
            job.deliver(
                ballast::storeSimulation(workspace, planner.header(), steps, planner.discards(),
                                         scenario.packing.strategy + " + " + scenario.sharding.strategy)
                    .run);
        },
        [this](RunId run) {
            emit message(tr("Stored as run %1.").arg(run));
            selectRun(run);
            refreshRuns();
        },
        [this](const QString& sentence) { emit message(sentence); });
}

}  // namespace ballast::studio
