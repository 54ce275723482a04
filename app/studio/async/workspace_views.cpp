// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/async/workspace_views.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "core/base/error.h"
#include "core/dispatch/runner.h"

namespace ballast::studio {
namespace {

constexpr std::streamoff kMostLogBytes = 256 * 1024;

std::shared_ptr<const StepTimeline> storedStep(const Workspace& workspace, RunId run, std::int64_t step) {
    return std::make_shared<const StepTimeline>(workspace.stepTimeline(run, step));
}

bool hasStep(const Workspace& workspace, RunId run, std::int64_t step) {
    const std::vector<StepRecord> steps = workspace.steps(run);
    return std::any_of(steps.begin(), steps.end(), [&](const StepRecord& row) { return row.step == step; });
}

/// Whole lines of the last kMostLogBytes of what mpirun collected; it tags a rank's lines
/// "[1,RANK]<stdout>:".
std::vector<LogLine> printedLines(const std::filesystem::path& file) {
    std::vector<LogLine> lines;
    std::ifstream in(file, std::ios::binary);
    if (!in)
        return lines;
    in.seekg(0, std::ios::end);
    const std::streamoff size = in.tellg();
    in.seekg(std::max<std::streamoff>(0, size - kMostLogBytes));
    std::string text;
    if (size > kMostLogBytes)
        std::getline(in, text);  // begins inside a line
    while (std::getline(in, text)) {
        LogLine line;
        int rank = -1;
        int end = 0;
        if (std::sscanf(text.c_str(), "[%*d,%d]<std%*3[a-z]>:%n", &rank, &end) == 1 && end > 0) {
            line.rank = rank;
            text.erase(0, static_cast<std::size_t>(end));
            const std::string own = "rank " + std::to_string(rank) + ": ";
            if (text.starts_with(own))
                text.erase(0, own.size());
        }
        line.text = text;
        lines.push_back(std::move(line));
    }
    return lines;
}

const RunRow* endedRow(const std::shared_ptr<const RunList>& known, RunId run) {
    if (!known)
        return nullptr;
    for (const RunRow& row : known->runs) {
        const bool ended =
            row.state == RunState::Done || row.state == RunState::Stopped || row.state == RunState::Failed;
        if (row.record.id == run && ended)
            return &row;
    }
    return nullptr;
}

}  // namespace

RunList readRuns(const std::filesystem::path& file, const std::shared_ptr<const RunList>& known) {
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    RunList list;
    for (RunRecord& record : workspace.runs()) {
        RunRow row;
        row.state = currentState(workspace, record);
        const RunRow* before = endedRow(known, record.id);
        row.figures = before ? before->figures : runFigures(workspace, record.id);
        row.record = std::move(record);
        list.runs.push_back(std::move(row));
    }
    list.latestScenario = workspace.latestScenario();
    return list;
}

RunDetail readRunDetail(const std::filesystem::path& file, RunId run, const RunDetail& known) {
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    const RunRecord record = workspace.run(run);
    RunDetail detail;
    std::int64_t after = 0;
    if (known.run == run) {
        detail.steps = known.steps;
        for (const StepRecord& step : known.steps)
            after = std::max(after, step.id);
    }
    detail.run = run;
    detail.state = currentState(workspace, record);
    detail.failure = record.failure;
    for (StepRecord& step : workspace.stepsAfter(run, after)) {
        // A resumed run repeats its partial step under a new row.
        std::erase_if(detail.steps, [&](const StepRecord& old) { return old.step == step.step; });
        detail.steps.push_back(std::move(step));
    }
    detail.log = printedLines(RunDirectory(workspace.runDirectory(run)).logFile("launcher.log"));
    for (LogLine& line : workspace.log(run))
        detail.log.push_back(std::move(line));
    return detail;
}

StoredTimeline readTimeline(const std::filesystem::path& file, RunId run,
                            std::optional<std::int64_t> wanted) {
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    StoredTimeline stored;
    stored.record = workspace.run(run);
    for (const StepRecord& step : workspace.steps(run))
        stored.steps.push_back(step.step);
    if (stored.steps.empty())
        throw Error("run " + std::to_string(run) + " has no stored step yet");
    std::sort(stored.steps.begin(), stored.steps.end());
    std::int64_t step = stored.steps.size() > 1 ? stored.steps[1] : stored.steps[0];
    if (wanted && std::binary_search(stored.steps.begin(), stored.steps.end(), *wanted))
        step = *wanted;
    for (const StepRecord& row : workspace.steps(run)) {
        if (row.step == step)
            stored.tokens = row.tokens;
    }
    stored.step = storedStep(workspace, run, step);
    stored.predictionRun = stored.record.prediction;
    if (stored.predictionRun && hasStep(workspace, *stored.predictionRun, step))
        stored.prediction = storedStep(workspace, *stored.predictionRun, step);
    return stored;
}

RunComparison readComparison(const std::filesystem::path& file, RunId baseline, RunId other) {
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    RunComparison read;
    read.comparison = compare(workspace, Baseline{runFigures(workspace, baseline)}, other);
    read.baselineSteps = workspace.steps(baseline);
    read.otherSteps = workspace.steps(other);
    read.baselineRanks = workspace.rankSteps(baseline);
    read.otherRanks = workspace.rankSteps(other);
    read.baselinePrediction = predictionError(workspace, read.comparison.baseline);
    read.otherPrediction = predictionError(workspace, read.comparison.other);
    return read;
}

}  // namespace ballast::studio
