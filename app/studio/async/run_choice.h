// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <utility>

#include "app/studio/async/workspace_views.h"

namespace ballast::studio {

/// The run to show when nobody has chosen one: the newest measured run that is no short trial (at least half
/// as many steps as the longest), else the newest simulation of that kind; nothing without a complete step.
std::optional<RunId> runToShow(const RunList& list);

/// Baseline and other to compare when nobody has chosen: the run to show, against the newest run of the same
/// kind whose strategies differ. Nothing when there are no two runs.
std::optional<std::pair<RunId, RunId>> pairToCompare(const RunList& list);

}  // namespace ballast::studio
