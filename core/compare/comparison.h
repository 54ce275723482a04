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
    RunFigures baseline;
    RunFigures other;
    double secondsPerTokenDelta = 0;  ///< other / baseline - 1
    double noise = 0;  ///< relative: what a difference must exceed; from repeated runs of the same plan when
                       ///< the workspace has some, else 0
};
Comparison compare(const Workspace& workspace, const Baseline& baseline, RunId other);

/// How well a stored prediction met its run: compute and waiting only, never modelled transfers (trainer.md).
struct PredictionError {
    double predictedComputeSeconds = 0;
    double measuredComputeSeconds = 0;
    double predictedWaitingSeconds = 0;
    double measuredWaitingSeconds = 0;

    double computeRatio() const {
        return measuredComputeSeconds > 0 ? predictedComputeSeconds / measuredComputeSeconds : 0;
    }
};
std::optional<PredictionError> predictionError(const Workspace& workspace, const RunFigures& measured);

}  // namespace ballast
