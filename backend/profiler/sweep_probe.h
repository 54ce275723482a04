// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/cost/calibration.h"
#include "core/job/model_spec.h"
#include "kernels/device.h"

namespace ballast::backend {

/// Operands for timed calls: windows that wander over more memory than an inner cache holds, so that a call
/// finds its operands where a training step would.
class SweepMemory {
  public:
    SweepMemory();

    /// Makes room for windows of `count`. Only before the first call: it moves the memory.
    void reserve(std::int64_t count);
    /// Standard normal numbers.
    std::span<const float> input(std::int64_t count);
    /// Written and added to by earlier calls; finite.
    std::span<float> output(std::int64_t count);
    kernels::Scratch& scratch() { return scratch_; }

  private:
    /// Moves `at` past a window of `count`, back to the beginning where the end is near.
    static std::size_t wander(const std::vector<float>& memory, std::size_t& at, std::int64_t count);

    std::vector<float> input_;
    std::vector<float> output_;
    std::size_t inputAt_ = 0;
    std::size_t outputAt_ = 0;
    kernels::Scratch scratch_;
};

/// One thing to time, once a round.
struct SweepProbe {
    std::function<void()> call;
    std::function<void(CalibrationSamples&, Seconds)> report;  ///< gets the median time of one call
};

/// Each list of probes borrows `memory`.
std::vector<SweepProbe> attentionProbes(const ModelSpec& model, SweepMemory& memory);
std::vector<SweepProbe> gemmProbes(const ModelSpec& model, SweepMemory& memory);
std::vector<SweepProbe> memoryProbes(const ModelSpec& model, SweepMemory& memory);

}  // namespace ballast::backend
