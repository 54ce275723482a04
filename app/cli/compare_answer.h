// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/compare/comparison.h"

namespace ballast::cli {

/// The JSON answer of `compare`.
std::string comparisonJson(const Workspace& workspace, const Comparison& comparison);

/// The same for people: the figures side by side, then predicted against measured.
std::string comparisonText(const Workspace& workspace, const Comparison& comparison);

}  // namespace ballast::cli
