// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/run_choice.h"

#include <algorithm>

namespace ballast::studio {
namespace {

const char* const kUnbalanced = "sequential + per-sequence";

/// Runs of the kind that matters most, trials left out; oldest first.
std::vector<const RunRow*> fullRuns(const RunList& list) {
    const bool measured = std::any_of(list.runs.begin(), list.runs.end(), [](const RunRow& row) {
        return row.record.kind == RunKind::Measured && row.figures.steps > 0;
    });
    std::int64_t longest = 1;
    std::vector<const RunRow*> kept;
    for (const RunRow& row : list.runs) {
        if (measured && row.record.kind != RunKind::Measured)
            continue;
        longest = std::max(longest, row.figures.steps);
        kept.push_back(&row);
    }
    std::erase_if(kept, [longest](const RunRow* row) { return row->figures.steps * 2 < longest; });
    return kept;
}

const RunRow* newest(const std::vector<const RunRow*>& runs, const auto& suits) {
    const auto found = std::find_if(runs.rbegin(), runs.rend(), suits);
    return found == runs.rend() ? nullptr : *found;
}

const RunRow* rowToShow(const std::vector<const RunRow*>& runs) {
    const RunRow* balanced = newest(runs, [](const RunRow* row) { return row->record.name != kUnbalanced; });
    return balanced || runs.empty() ? balanced : runs.back();
}

}  // namespace

std::optional<RunId> runToShow(const RunList& list) {
    const RunRow* row = rowToShow(fullRuns(list));
    return row ? std::optional(row->record.id) : std::nullopt;
}

std::optional<std::pair<RunId, RunId>> pairToCompare(const RunList& list) {
    const std::vector<const RunRow*> runs = fullRuns(list);
    const RunRow* other = rowToShow(runs);
    if (!other || runs.size() < 2)
        return std::nullopt;
    const RunRow* baseline =
        newest(runs, [other](const RunRow* row) { return row->record.name != other->record.name; });
    if (!baseline)
        baseline = newest(runs, [other](const RunRow* row) { return row != other; });
    return std::pair(baseline->record.id, other->record.id);
}

}  // namespace ballast::studio
