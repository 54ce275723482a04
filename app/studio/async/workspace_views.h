// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/comparison.h"
#include "core/store/workspace.h"

namespace ballast::studio {

/// What a view takes from the workspace in one go. Each function opens the file for itself and is called on a
/// worker; throws Error as the workspace does.

/// A row of the runs table.
struct RunRow {
    RunRecord record;
    RunState state = RunState::Planned;  ///< as a reader sees it now (a silent run is lost)
    RunFigures figures;
};
struct RunList {
    std::vector<RunRow> runs;  ///< oldest first
    std::optional<std::string> latestScenario;
};
/// `known`: the list read before, or null; figures of runs that had ended by then are taken from it.
RunList readRuns(const std::filesystem::path& workspace,
                 const std::shared_ptr<const RunList>& known = nullptr);

/// The live part of one run: what is new since the row `afterStep` and the log.
struct RunDetail {
    RunId run = 0;
    RunState state = RunState::Planned;
    std::string failure;
    std::vector<StepRecord> steps;
    std::vector<LogLine>
        log;  ///< the end of what the ranks and their launcher printed, then the stored lines
};
/// `known`: what was read before; only newer steps are read and appended.
RunDetail readRunDetail(const std::filesystem::path& workspace, RunId run, const RunDetail& known);

/// A step to draw, with what is needed to label it.
struct StoredTimeline {
    RunRecord record;
    std::vector<std::int64_t> steps;  ///< numbers of all stored steps
    std::int64_t tokens = 0;          ///< of the step
    std::shared_ptr<const StepTimeline> step;
    std::shared_ptr<const StepTimeline> prediction;  ///< of the same step; null when there is none
    std::optional<RunId> predictionRun;
};
/// `step` absent: the first one after the first (step 0 warms up) or the only one.
StoredTimeline readTimeline(const std::filesystem::path& workspace, RunId run,
                            std::optional<std::int64_t> step);

/// Two runs held against each other.
struct RunComparison {
    Comparison comparison;
    std::vector<StepRecord> baselineSteps;
    std::vector<StepRecord> otherSteps;
    std::vector<RankStepRecord> baselineRanks;
    std::vector<RankStepRecord> otherRanks;
    std::optional<PredictionError> baselinePrediction;
    std::optional<PredictionError> otherPrediction;
};
RunComparison readComparison(const std::filesystem::path& workspace, RunId baseline, RunId other);

}  // namespace ballast::studio
