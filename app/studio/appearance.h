// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ballast::studio {

/// Names, style and palette of the program, the same on every machine.
void setAppearance();

}  // namespace ballast::studio
