// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/adamw.h"

namespace ballast::backend {

double learningRate(const TrainingOptions& training, std::int64_t step) {
    const auto at = static_cast<double>(step);
    const auto warmup = static_cast<double>(training.warmupSteps);
    const auto total = static_cast<double>(training.totalSteps);
    if (at < warmup)
        return training.learningRate * (at + 1) / warmup;
    if (at >= total)
        return training.minLearningRate;
    const double progress = (at - warmup) / (total - warmup);
    return training.minLearningRate + (training.learningRate - training.minLearningRate) *
                                          (1 + std::cos(std::numbers::pi * progress)) / 2;
}

double clipScale(const TrainingOptions& training, double norm) {
    return std::min(1.0, training.clipNorm / (norm + 1e-6));
}

void Optimizer::update(double rate, double norm) {
    ComputeScope scope(context_.spans, SpanKind::Optimizer, {});
    kernels::AdamW settings{.rate = rate,
                            .beta1 = training_.beta1,
                            .beta2 = training_.beta2,
                            .epsilon = training_.epsilon,
                            .gradientScale = clipScale(training_, norm),
                            .step = ++updates_};
    for (std::size_t i = 0; i < parameters_.tensors().size(); ++i) {
        const int tensor = static_cast<int>(i);
        settings.weightDecay = parameters_.tensors()[i].spec.isMatrix() ? training_.weightDecay : 0.0;
        kernels::adamwStep(
            settings, parameters_.gradients(tensor),
            {parameters_.weights(tensor), parameters_.values(Parameters::Kind::FirstMoment, tensor),
             parameters_.values(Parameters::Kind::SecondMoment, tensor)});
    }
}

}  // namespace ballast::backend
