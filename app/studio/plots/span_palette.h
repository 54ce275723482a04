// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBrush>
#include <QColor>

#include "core/timeline/span.h"

namespace ballast::studio {

/// One look per span kind in every view and every run. Hues are those of Okabe and Ito ("Color Universal
/// Design", 2008), dark for forward and light for backward, so that kinds differ in lightness too.
QColor spanColour(SpanKind kind);
/// Black or white, whichever reads better on `background`.
QColor inkOn(const QColor& background);

/// Hatch in the kind's colour: blocked, others were not there yet.
QBrush waitingBrush(const QColor& colour);
QColor pipelineIdleColour();

/// The two sides of every comparison.
QColor scenarioColour();
QColor baselineColour();

/// The two parts of a predicted workload.
QColor attentionColour();
QColor linearColour();

}  // namespace ballast::studio
