// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/plan/plan.h"

namespace ballast {

/// Checks that a step can be trained: dp, index, offsets and shards in range, no document range twice in the
/// step, shards of each micro-batch cover its pieces exactly once. Throws Error "<place>: ..." naming
/// micro-batch and document.
void validatePlanStep(const PlanStep& step, const Layout& layout, std::string_view place);

}  // namespace ballast
