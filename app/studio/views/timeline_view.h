// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "app/studio/async/latest_job.h"
#include "app/studio/async/workspace_views.h"

class QCheckBox;
class QComboBox;
class QLabel;

namespace ballast::studio {

class Session;
class TimelinePlot;
struct WhatIf;

/// What each rank did in one step, and below it, on the same time axis, what it is held against: a run's
/// prediction, or the scenario without balancing.
class TimelineView : public QWidget {
    Q_OBJECT

  public:
    explicit TimelineView(Session& session, QWidget* parent = nullptr);
    ~TimelineView() override;

    const TimelinePlot* upper() const { return upper_; }
    const TimelinePlot* lower() const { return lower_; }

  private:
    /// Two steps to draw, simulated or stored, with the words that stand above them.
    struct Pair {
        std::shared_ptr<const StepTimeline> upper;
        std::shared_ptr<const StepTimeline> lower;
        Layout layout;
        QString upperTitle;
        QString lowerTitle;
        QString note;
        std::vector<std::int64_t> steps;
    };
    static Pair simulatedPair(const WhatIf& whatIf, int stepIndex);
    static Pair storedPair(const std::filesystem::path& workspace, RunId run,
                           std::optional<std::int64_t> step);

    void connectParts();
    void fillSources();
    /// Which source the person, or the first list of runs, chose: a run, or nothing for the scenario.
    std::optional<RunId> sourceRun() const;
    void reload();
    void take(Pair pair);
    void draw();

    Session* session_;
    QComboBox* source_;
    QComboBox* step_;
    int wantedStep_ = -1;  ///< place in the scenario's list; -1: the most telling one
    QCheckBox* newest_;
    QCheckBox* below_;
    QCheckBox* allTensor_;
    QLabel* note_;
    TimelinePlot* upper_;
    TimelinePlot* lower_;
    Pair pair_;
    bool sourcesChosen_ = false;
    LatestJob<Pair> job_;
};

}  // namespace ballast::studio
