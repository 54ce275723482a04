// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/model/parameters.h"
#include "backend/trainer/rank_context.h"
#include "core/job/scenario.h"

namespace ballast::backend {

/// Learning rate of a step from 0: linear warm-up, then a half cosine from `learningRate` down to
/// `minLearningRate` at `totalSteps`, and that from there on.
double learningRate(const TrainingOptions& training, std::int64_t step);

/// What scales the gradients so that their norm is at most clipNorm: min(1, clipNorm / (norm + 1e-6)).
double clipScale(const TrainingOptions& training, double norm);

/// AdamW over a rank's parameters, with decoupled decay on matrices and none on norms.
class Optimizer {
  public:
    Optimizer(const RankContext& context, const Parameters& parameters, const TrainingOptions& training)
        : context_(context), parameters_(parameters), training_(training) {}

    /// One update with normalised gradients, whose norm over all parameters is `norm`.
    void update(double rate, double norm);

  private:
    const RankContext& context_;
    const Parameters& parameters_;
    const TrainingOptions& training_;
    std::int64_t updates_ = 0;
};

}  // namespace ballast::backend
