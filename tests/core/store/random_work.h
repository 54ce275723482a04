// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/random.h"
#include "core/store/workspace.h"

namespace ballast::testing {

/// Values with every field drawn from the seed, to see that what goes in comes out.
Span randomSpan(Random& random, Lane lane, Nanoseconds begin);
/// Sorted by lane and begin, as a timeline is; every third rank without spans.
StepTimeline randomTimeline(Random& random, std::int64_t step, int ranks);
RankStepRecord randomRankStep(Random& random, std::int64_t step, int rank);
PlanStep randomPlanStep(Random& random, std::int64_t step, const Layout& layout, int microBatches);

PlanHeader tinyHeader();
/// A measured run over `layout`.
RunRecord measuredRun(const Layout& layout);

}  // namespace ballast::testing
