// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/store/workspace.h"

namespace ballast::cli {

/// The JSON answer of `run` and `runs show`.
std::string runAnswerJson(const Workspace& workspace, const RunRecord& run);

/// Heading and row of a table of steps for people.
std::string stepHeading();
std::string stepLine(const StepRecord& step);

/// Whether a run trains the tokens of a file or drawn ones.
std::string tokensSentence(const RunRecord& run);

}  // namespace ballast::cli
