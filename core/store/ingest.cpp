// SPDX-License-Identifier: Apache-2.0
#include "core/store/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace ballast {
namespace {

constexpr std::size_t kReadAhead = 2;

}  // namespace

std::map<std::int64_t, double> imbalanceDegrees(const std::vector<MicroBatchRecord>& microBatches) {
    struct Sums {
        double greatest = 0;
        double total = 0;
        int count = 0;
    };
    std::map<std::int64_t, Sums> steps;
    for (const MicroBatchRecord& batch : microBatches) {
        if (batch.tokens == 0)
            continue;
        Sums& sums = steps[batch.step];
        sums.greatest = std::max(sums.greatest, batch.workloadSeconds);
        sums.total += batch.workloadSeconds;
        ++sums.count;
    }
    std::map<std::int64_t, double> degrees;
    for (const auto& [step, sums] : steps)
        degrees[step] = sums.total > 0 ? sums.greatest * sums.count / sums.total : 1;
    return degrees;
}

SpoolIngest::SpoolIngest(Workspace& workspace, RunId run, const std::filesystem::path& spoolFolder)
    : workspace_(workspace), run_(run), spoolFolder_(spoolFolder) {
    const RunRecord record = workspace.run(run);
    for (int rank = 0; rank < record.layout.worldSize(); ++rank)
        files_.push_back({rank, SpoolReader(spoolFolder / std::to_string(rank), rank), {}});
    if (record.plan) {
        planned_ = true;
        for (const PlanStepRecord& step : workspace.planStepRecords(*record.plan))
            plan_[step.step] = {step.tokens, step.targets, 0};
        for (const auto& [step, degree] : imbalanceDegrees(workspace.microBatches(*record.plan)))
            plan_[step].imbalanceDegree = degree;
    }
    for (const StepRecord& step : workspace.steps(run)) {
        if (!step.complete)
            continue;
        finished_.insert(step.step);
        ends_[step.step] = step.end;
    }
}

void SpoolIngest::check(const SpoolChunk& chunk, const std::filesystem::path& file) const {
    if (!planned_)
        return;
    const StepReport& report = chunk.report;
    const auto planned = plan_.find(report.step);
    if (planned == plan_.end())
        throw Error(fmt::format("{}: step {}, which the plan of run {} does not have", file.string(),
                                report.step, run_));
    if (report.tokens != planned->second.tokens || report.targets != planned->second.targets)
        throw Error(fmt::format("{}: step {} reports {} tokens and {} targets, expected {} and {} as planned",
                                file.string(), report.step, report.tokens, report.targets,
                                planned->second.tokens, planned->second.targets));
}

void SpoolIngest::readAhead(RankFile& file) {
    while (file.waiting.size() < kReadAhead) {
        std::optional<SpoolChunk> chunk = file.reader.next();
        if (!chunk)
            return;
        if (finished_.contains(chunk->report.step))
            continue;
        const std::filesystem::path path = spoolFolder_ / std::to_string(file.rank);
        check(*chunk, path);
        if (!file.waiting.empty() && chunk->report.step <= file.waiting.back().report.step)
            throw Error(fmt::format("{}: before offset {}: step {} follows step {}, expected a later one",
                                    path.string(), file.reader.offset(), chunk->report.step,
                                    file.waiting.back().report.step));
        file.waiting.push_back(std::move(*chunk));
    }
}

std::optional<std::int64_t> SpoolIngest::oldestWaiting() const {
    std::optional<std::int64_t> oldest;
    for (const RankFile& file : files_)
        if (!file.waiting.empty())
            oldest =
                std::min(oldest.value_or(file.waiting.front().report.step), file.waiting.front().report.step);
    return oldest;
}

std::int64_t SpoolIngest::storeFinishedSteps() {
    std::int64_t stored = 0;
    for (;;) {
        for (RankFile& file : files_)
            readAhead(file);
        const std::optional<std::int64_t> step = oldestWaiting();
        if (!step || !std::ranges::all_of(files_, [&](const RankFile& file) {
                return !file.waiting.empty() && file.waiting.front().report.step == *step;
            }))
            return stored;
        store(*step);
        ++stored;
    }
}

bool SpoolIngest::storePartialStep() {
    const std::optional<std::int64_t> step = oldestWaiting();
    if (!step)
        return false;
    store(*step);
    return true;
}

void SpoolIngest::store(std::int64_t step) {
    StepRecord record;
    StepTimeline timeline;
    record.step = timeline.step = step;
    const StepReport* first = nullptr;
    for (const RankFile& file : files_) {
        if (file.waiting.empty() || file.waiting.front().report.step != step) {
            record.missingRanks.push_back(file.rank);
            continue;
        }
        const StepReport& report = file.waiting.front().report;
        if (!first) {
            first = &report;
            record.begin = report.begin;
            record.end = report.end;
        }
        record.begin = std::min(record.begin, report.begin);
        record.end = std::max(record.end, report.end);
    }
    // Step time is the latest end over all ranks minus the same of the step before (trainer.md, "Two
    // clocks").
    if (const auto before = ends_.find(step - 1); before != ends_.end())
        record.begin = std::min(before->second, record.end);
    record.complete = timeline.complete = record.missingRanks.empty();
    record.tokens = first->tokens;
    record.targets = first->targets;
    if (first->targets > 0)
        record.loss = first->lossSum / static_cast<double>(first->targets);
    record.gradientNorm = first->gradientNorm;
    record.learningRate = first->learningRate;
    if (const auto planned = plan_.find(step); planned != plan_.end())
        record.imbalanceDegree = planned->second.imbalanceDegree;
    timeline.begin = record.begin;
    timeline.end = record.end;

    std::vector<RankStepRecord> figures;
    for (const RankFile& file : files_) {
        RankSpans spans{file.rank, false, {}};
        if (!std::ranges::count(record.missingRanks, file.rank)) {
            const SpoolChunk& chunk = file.waiting.front();
            spans.recorded = true;
            spans.spans = chunk.spans;
            RankStepRecord rank{step, file.rank, breakdownOf(spans, record.begin, record.end), {}};
            std::ranges::copy(chunk.report.peakBytes, rank.peakBytes);
            figures.push_back(std::move(rank));
        }
        timeline.ranks.push_back(std::move(spans));
    }
    workspace_.addStep(run_, record, timeline, figures);
    if (!record.complete)
        return;
    finished_.insert(step);
    ends_[step] = record.end;
    for (RankFile& file : files_)
        file.waiting.pop_front();
}

}  // namespace ballast
