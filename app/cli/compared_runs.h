// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "core/store/workspace.h"

namespace ballast::cli {

/// The two things that `compare` names, as runs of one workspace. A plan is simulated: in the given
/// workspace, where a simulation of the same plan is used again, or without one in a workspace that lasts as
/// long as this object.
class ComparedRuns {
  public:
    /// Each of run:3, 3 or plan:FILE; trace:FILE is refused. `workspace` may be empty when both are plans.
    ComparedRuns(const std::array<std::string, 2>& names, const std::string& workspace);
    ~ComparedRuns();
    ComparedRuns(const ComparedRuns&) = delete;
    ComparedRuns& operator=(const ComparedRuns&) = delete;

    const Workspace& workspace() const { return *workspace_; }
    RunId first() const { return runs_[0]; }
    RunId second() const { return runs_[1]; }

  private:
    std::filesystem::path temporaryFolder_;
    std::optional<Workspace> workspace_;
    std::array<RunId, 2> runs_{};
};

}  // namespace ballast::cli
