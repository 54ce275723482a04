// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <filesystem>
#include <memory>
#include <optional>

#include "app/studio/async/latest_job.h"
#include "app/studio/async/what_if.h"
#include "app/studio/async/workspace_views.h"
#include "core/workload/length_statistics.h"

namespace ballast::studio {

/// Statistics of the scenario's lengths, with the sentences that describe them.
struct LengthsSnapshot {
    LengthStatistics statistics;
    std::int64_t window = 0;
    std::string description;
    std::vector<std::string> sentences;
    std::vector<std::string> notices;
    double attentionOfLongestPercent = 0;  ///< share of attention work of the longest 1 % of documents
};

/// The one owner of the window's state: the scenario on screen, the workspace, the selected run, and the
/// newest results for them. Views read it, listen to its signals and call its setters; they keep no state
/// that another view needs. Computes nothing itself: workers call the core, and only the newest result is
/// kept.
class Session : public QObject {
    Q_OBJECT

  public:
    explicit Session(Workers& workers, QObject* parent = nullptr);
    ~Session() override;

    Workers& workers() const { return *workers_; }

    const Scenario& scenario() const { return scenario_; }
    void setScenario(const Scenario& scenario);
    /// The newest what-if result, or null before the first.
    std::shared_ptr<const WhatIf> whatIf() const { return whatIf_; }
    /// Why the scenario on screen can't be planned; empty when it can.
    const QString& problem() const { return problem_; }
    std::shared_ptr<const LengthsSnapshot> lengths() const { return lengths_; }
    const QString& lengthsProblem() const { return lengthsProblem_; }

    /// Empty when none is open.
    const std::filesystem::path& workspace() const { return workspace_; }
    /// Opens a workspace that is there; its newest scenario, or that of its newest run, becomes the scenario.
    void openWorkspace(const std::filesystem::path& file);
    /// The newest list of runs, or null before the first.
    std::shared_ptr<const RunList> runs() const { return runs_; }
    /// Its rows, none before the first list; valid until the next one arrives.
    const std::vector<RunRow>& runRows() const;
    const QString& workspaceProblem() const { return workspaceProblem_; }
    void refreshRuns();
    /// True while a list of runs is being read; a poller then waits for it.
    bool isRefreshing() const { return refreshing_; }

    std::optional<RunId> selectedRun() const { return selectedRun_; }
    void selectRun(RunId run);

    /// Plans and simulates the scenario as `ballast simulate --workspace` does and stores it as a run.
    void storeSimulation();

    /// The scenario of the first start: llama2-7b on h100-dgx, window 131072, wlb + adaptive.
    static Scenario readyScenario();

  signals:
    void scenarioChanged();
    void planning();  ///< a new computation began; the results on screen are those of an earlier edit
    void whatIfChanged();
    void lengthsChanged();
    void workspaceChanged();
    void runsChanged();
    void selectedRunChanged();
    void message(const QString& sentence);

  private:
    void startWhatIf();
    void startLengths();
    void takeRuns(RunList list);

    Workers* workers_;
    Scenario scenario_ = readyScenario();
    std::shared_ptr<const WhatIf> whatIf_;
    QString problem_;
    std::shared_ptr<const LengthsSnapshot> lengths_;
    QString lengthsProblem_;
    std::optional<LengthsOptions> lengthsShown_;
    std::filesystem::path workspace_;
    bool adoptScenario_ = false;  ///< the next list of runs brings the scenario to show
    bool refreshing_ = false;
    std::shared_ptr<const RunList> runs_;
    QString workspaceProblem_;
    std::optional<RunId> selectedRun_;

    LatestJob<WhatIf> whatIfJob_;
    LatestJob<LengthsSnapshot> lengthsJob_;
    LatestJob<RunList> runsJob_;
    LatestJob<RunId> storeJob_;
};

}  // namespace ballast::studio
