// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "core/timeline/timeline.h"

namespace ballast::studio {

/// "Attention forward": for legends, tables and tooltips.
QString spanTitle(SpanKind kind);
/// One letter for boxes that are wide enough.
QString spanLetter(SpanKind kind);
/// "Simulated", "Virtual clock" or "Wall clock": stands beside every time that comes from a run.
QString clockTitle(Clock clock);

}  // namespace ballast::studio
