// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.h"

/// How the workspace keeps plans: JSON that a person can read in a bare SQLite shell, and that gives the same
/// values back. `place` stands in front of the sentence of an Error. Private to core/store.
namespace ballast {

std::string planHeaderJson(const PlanHeader& header);
PlanHeader parsePlanHeader(std::string_view json, const std::string& place);

std::string planStepJson(const PlanStep& step);
PlanStep parsePlanStep(std::string_view json, const std::string& place);

std::string discardsJson(const std::vector<Discard>& discards);
std::vector<Discard> parseDiscards(std::string_view json, const std::string& place);

}  // namespace ballast
