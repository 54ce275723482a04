// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "core/compare/comparison.h"

namespace ballast {
namespace {

constexpr std::size_t kLastLosses = 3;

/// Sum over steps of the largest value, over the sum of the mean: the form of planner.md, section 1, in which
/// a long step weighs as much as it lasts.
class ImbalanceSum {
  public:
    void add(std::int64_t step, double value) {
        Step& sums = steps_[step];
        sums.greatest = std::max(sums.greatest, value);
        sums.total += value;
        ++sums.count;
    }
    double degree() const {
        double greatest = 0;
        double means = 0;
        for (const auto& [step, sums] : steps_) {
            greatest += sums.greatest;
            means += sums.total / sums.count;
        }
        return means > 0 ? greatest / means : 1;
    }

  private:
    struct Step {
        double greatest = 0;
        double total = 0;
        int count = 0;
    };
    std::map<std::int64_t, Step> steps_;
};

void addSteps(RunFigures& figures, const std::vector<StepRecord>& steps) {
    double seconds = 0;
    std::int64_t tokens = 0;
    for (const StepRecord& step : steps) {
        if (!step.complete)
            continue;
        ++figures.steps;
        figures.stepSeconds.push_back(toSeconds(step.end - step.begin).value());
        seconds += figures.stepSeconds.back();
        tokens += step.tokens;
    }
    if (tokens > 0 && seconds > 0) {
        figures.secondsPerToken = seconds / static_cast<double>(tokens);
        figures.tokensPerSecond = static_cast<double>(tokens) / seconds;
    }
}

std::optional<double> lastLoss(const std::vector<StepRecord>& steps) {
    double sum = 0;
    std::int64_t targets = 0;
    std::size_t found = 0;
    for (auto step = steps.rbegin(); step != steps.rend() && found < kLastLosses; ++step) {
        if (!step->complete || !step->loss)
            continue;
        sum += *step->loss * static_cast<double>(step->targets);
        targets += step->targets;
        ++found;
    }
    return targets > 0 ? std::optional(sum / static_cast<double>(targets)) : std::nullopt;
}

void addRanks(RunFigures& figures, const std::vector<RankStepRecord>& ranks,
              const std::set<std::int64_t>& completeSteps) {
    ImbalanceSum imbalance;
    for (const RankStepRecord& rank : ranks) {
        if (!completeSteps.contains(rank.step))
            continue;
        const RankBreakdown& breakdown = rank.breakdown;
        const double compute = breakdown.computeSeconds();
        imbalance.add(rank.step, compute);
        figures.computeSeconds += compute;
        figures.pipelineIdleSeconds += breakdown.pipelineIdleSeconds;
        for (std::size_t kind = 1; kind < breakdown.kindSeconds.size(); ++kind) {
            if (breakdown.kindSeconds[kind] != 0)
                figures.kindSeconds[static_cast<SpanKind>(kind)] += breakdown.kindSeconds[kind];
            if (breakdown.waitingByKindSeconds[kind] != 0)
                figures.waitingSeconds[static_cast<SpanKind>(kind)] += breakdown.waitingByKindSeconds[kind];
        }
    }
    figures.rankImbalance = imbalance.degree();
}

}  // namespace

RunFigures runFigures(const Workspace& workspace, RunId run) {
    RunFigures figures;
    figures.run = workspace.run(run);
    const std::vector<StepRecord> steps = workspace.steps(run);
    std::set<std::int64_t> completeSteps;
    for (const StepRecord& step : steps)
        if (step.complete)
            completeSteps.insert(step.step);
    addSteps(figures, steps);
    figures.lossLast = lastLoss(steps);
    addRanks(figures, workspace.rankSteps(run), completeSteps);
    ImbalanceSum imbalance;
    if (figures.run.plan)
        for (const MicroBatchRecord& batch : workspace.microBatches(*figures.run.plan))
            if (batch.tokens > 0 && completeSteps.contains(batch.step))
                imbalance.add(batch.step, batch.workloadSeconds);
    figures.imbalanceDegree = imbalance.degree();
    return figures;
}

}  // namespace ballast
