// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/units.h"

namespace ballast::testing {

/// A pipeline as plain numbers: ns of each micro-batch's forward and backward on each stage, and of a
/// message.
struct PlainPipeline {
    std::vector<std::vector<Nanoseconds>> forward;  ///< by stage, by micro-batch
    std::vector<std::vector<Nanoseconds>> backward;
    Nanoseconds message = 0;
};

/// When each stage ends its last pass under 1F1B, from the definition alone: stage s begins with
/// min(m, p-1-s) forwards, then alternates one forward and one backward, then drains; a pass starts when the
/// stage's previous pass has ended and its input has arrived. The slow obvious twin of the simulator.
std::vector<Nanoseconds> plain1F1B(const PlainPipeline& pipeline);

}  // namespace ballast::testing
