// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/model/parameters.h"
#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// What the job knows of a step once its collectives are through.
struct StepSums {
    double squaredGradientNorm = 0;  ///< every parameter once
    double lossSum = 0;
};

/// The step's collectives in the order of stepCollectives(): gradients summed over dp x cp, a tied
/// embedding's over its first and last stage, the gradient norm's square and the loss over the world.
///
/// localLossSum: this rank's targets, the same on all tp ranks.
StepSums synchroniseGradients(const RankContext& context, const Parameters& parameters, double localLossSum);

}  // namespace ballast::backend
