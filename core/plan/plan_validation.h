// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/plan/plan.h"

namespace ballast {

/// Checks that a step can be trained: dp, index, offsets and shards in range, indices of a dp rank counted
/// from 0, no document range twice in the step (with several epochs: no piece of the stream twice), shards of
/// each micro-batch cover its pieces exactly once, token counts that agree. Throws Error "<place>: ..."
/// naming micro-batch and document. epochs   of the scenario: a short source may come round again within a
/// step
void validatePlanStep(const PlanStep& step, const Layout& layout, std::string_view place,
                      std::int64_t epochs = 1);

}  // namespace ballast
