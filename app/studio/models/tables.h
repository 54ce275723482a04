// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/studio/async/workspace_views.h"
#include "app/studio/models/table_model.h"
#include "core/workload/length_statistics.h"

namespace ballast::studio {

/// The columns and rows of each table of the window; each row states what the core computed and nothing else.

std::vector<Column> percentileColumns();
std::vector<std::vector<Cell>> percentileRows(const LengthStatistics& statistics);

/// What each bucket of lengths holds of documents, tokens and attention work.
std::vector<Column> bucketColumns();
std::vector<std::vector<Cell>> bucketRows(const LengthStatistics& statistics);

std::vector<Column> runColumns();
std::vector<std::vector<Cell>> runRows(const RunList& list);

/// Settings in which two scenarios (JSON) differ; key path, value of each.
std::vector<Column> differenceColumns(const QString& baseline, const QString& other);
std::vector<std::vector<Cell>> differenceRows(const std::string& baseline, const std::string& other);

std::vector<Column> figureColumns(const QString& baseline, const QString& other);
std::vector<std::vector<Cell>> figureRows(const RunComparison& comparison);

/// "wlb + adaptive (run 3)"
QString runTitle(const RunRecord& record);
QString stateTitle(RunState state);

/// What changed between two runs, in seconds of one rank per million tokens, so that runs of different
/// lengths compare; largest change first.
struct Delta {
    QString name;
    double baseline = 0;
    double other = 0;
    double change() const { return other - baseline; }
};
/// Each kind's compute or transfer, waiting by kind, and pipeline idle; they sum to the step time.
std::vector<Delta> kindDeltas(const RunComparison& comparison);
/// Compute seconds of each rank, when both runs have the same number of ranks.
std::vector<Delta> rankDeltas(const RunComparison& comparison);

/// Tokens of the complete steps.
double tokensOf(const std::vector<StepRecord>& steps);

}  // namespace ballast::studio
