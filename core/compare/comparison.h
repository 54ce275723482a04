// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/store/workspace.h"

namespace ballast {

/// One run summed up; only complete steps count.
struct RunFigures {
    RunRecord run;
    std::int64_t steps = 0;
    double secondsPerToken = 0;  ///< sum of step times / sum of tokens
    double tokensPerSecond = 0;
    double imbalanceDegree = 0;  ///< of the micro-batches' workloads, sum of max / sum of mean
    double rankImbalance = 0;    ///< of the ranks' compute seconds, sum over steps of max / of mean
    std::map<SpanKind, double> waitingSeconds;  ///< summed over ranks and steps
    double pipelineIdleSeconds = 0;
    double computeSeconds = 0;  ///< summed over ranks and steps
    std::map<SpanKind, double> kindSeconds;
    std::vector<double> stepSeconds;
    std::optional<double> lossLast;  ///< target-weighted mean of the last three steps with a loss
};
/// Throws Error for a run that is not there. cost  O(steps * ranks): reads no spans.
RunFigures runFigures(const Workspace& workspace, RunId run);

/// A run that others are held against: a type of its own, so that a difference can't be taken the wrong way
/// round.
struct Baseline {
    RunFigures figures;
};

struct Comparison {
    bool comparable = true;
    std::vector<std::string>
        whyNot;  ///< "not the same pieces", "not the same clock: virtual and simulated", ...
    std::vector<std::string> notices;  ///< what a person should know of a comparison that holds
    RunFigures baseline;
    RunFigures other;
    double secondsPerTokenDelta = 0;  ///< other / baseline - 1
    double noise = 0;  ///< relative: what a difference must exceed; from repeated runs of the same plan when
                       ///< the workspace has some, else 0
};
/// Runs are comparable when they trained the same pieces (document, begin, end; in whatever step and
/// micro-batch) of the same source, order and window, with the same model, on the same clock. A simulated run
/// against a measured one isn't: only compute and waiting are, which predictionError gives.
Comparison compare(const Workspace& workspace, const Baseline& baseline, RunId other);

/// Relative spread of seconds per token over the done runs of a workspace that repeat `run`: the same
/// scenario but for its number of steps, the same clock, and the same first steps; over the steps that all of
/// them have. 0 when nothing repeats it.
double repeatNoise(const Workspace& workspace, const RunRecord& run);

/// How well a stored prediction met its run: compute and waiting (in collectives) only, never modelled
/// transfers (trainer.md); over the steps that both have, whole, summed over ranks.
struct PredictionError {
    double predictedComputeSeconds = 0;
    double measuredComputeSeconds = 0;
    double predictedWaitingSeconds = 0;
    double measuredWaitingSeconds = 0;

    double computeRatio() const {
        return measuredComputeSeconds > 0 ? predictedComputeSeconds / measuredComputeSeconds : 0;
    }
};
/// Nothing for a run without a stored prediction, or without a whole step.
std::optional<PredictionError> predictionError(const Workspace& workspace, const RunFigures& measured);

}  // namespace ballast
