// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/dispatch/run_directory.h"
#include "core/dispatch/runner.h"
#include "tests/support/temporary_directory.h"

namespace ballast::testing {

/// A workspace with one planned run of four ranks whose launcher is the fake_ranks program.
class SmallRun {
  public:
    static constexpr int kRanks = 4;

    /// fault as fake_ranks takes it.
    SmallRun(int steps, int stepMilliseconds, const std::string& fault = "none");
    /// Ends whatever of the run still lives.
    ~SmallRun();
    SmallRun(const SmallRun&) = delete;
    SmallRun& operator=(const SmallRun&) = delete;

    const std::filesystem::path& file() const { return file_; }
    RunId id() const { return id_; }
    RunDirectory directory() const;
    Workspace reader() const { return Workspace::open(file_, Workspace::Mode::ReadOnly); }

    /// superviseRun in a process of its own, as `ballast run` has it; returns its pid.
    int startSupervisor() const;
    /// Waits for it; the state it returned, or nothing when it was killed or failed.
    static std::optional<RunState> waitFor(int supervisor);
    /// Kills it as a crash would.
    static void kill(int supervisor);

    /// Steps that are whole in the workspace; fails the test when one is there twice, or a hole is between
    /// two.
    std::int64_t wholeSteps() const;
    int partialSteps() const;
    /// Polls until `condition` holds; false after 20 s.
    static bool waitUntil(const std::function<bool()>& condition);
    /// True when no process of pids.json but the runner's lives.
    bool nothingLeft() const;

  private:
    TemporaryDirectory folder_;
    std::filesystem::path file_;
    RunId id_ = 0;
};

}  // namespace ballast::testing
