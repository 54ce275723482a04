// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "core/cost/calibration.h"
#include "core/job/model_spec.h"

namespace ballast::backend {

struct SweepOptions {
    double seconds = 20;  ///< wall time to spend; one whole round is measured in any case
    ModelSpec model;      ///< whose shapes are measured
    std::function<void(double fraction)> progress;  ///< called between calls; may be empty
};

struct SweepResult {
    CalibrationSamples samples;
    int rounds = 0;
    double driftPercent = 0;  ///< how much the slowest round exceeds the fastest: what else the machine did
};

/// Times the kernels that the trainer calls, with the shapes of `model`, on the calling thread: attention by
/// length, prefix and direction for the model's head size and for 64; matrix products as the linear layers
/// make them; the element-wise kernels of a step; memory copies. In rounds, so that each figure is a median
/// over the whole time; on operands that other calls have pushed out of the inner caches, as in training; in
/// CPU time of the thread, as the virtual clock counts.
SweepResult sweepKernels(const SweepOptions& options);

}  // namespace ballast::backend
