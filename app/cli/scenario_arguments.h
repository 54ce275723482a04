// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/program.h"
#include "core/plan/plan_file.h"
#include "core/plan/planner.h"

namespace ballast::cli {

/// The arguments of every command that takes a scenario: SCENARIO, --set, --steps, --json.
struct ScenarioArguments {
    std::string file;
    std::vector<std::string> assignments;
    std::optional<std::int64_t> steps;
    bool json = false;

    /// `planAllowed`: the command also takes a plan file.
    void addTo(CLI::App& command, bool planAllowed);
    bool isPlan() const { return looksLikePlan(file); }
    /// The scenario with --set applied; what is not built is refused in the name of `command`. Throws Error
    /// when the file is a plan.
    Scenario load(std::string_view command) const;
};

/// The steps of a scenario, planned now, or of a plan file, one after the other.
class StepSource {
  public:
    StepSource(const ScenarioArguments& arguments, std::string_view command);

    const PlanHeader& header() const;
    std::optional<PlanStep> next();
    /// After the last step.
    const std::vector<Discard>& discards() const;
    /// The header's, and those that the steps brought; after the last step.
    std::vector<std::string> notices() const;
    /// Global batches that will be taken, where that is known.
    std::optional<std::int64_t> batchesToTake() const;

  private:
    std::optional<Planner> planner_;
    std::optional<PlanReader> reader_;
};

}  // namespace ballast::cli
