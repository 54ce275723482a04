// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/run_directory.h"
#include "core/dispatch/waiting_time.h"
#include "core/store/ingest.h"
#include "core/store/workspace.h"

namespace ballast {

/// The runner at work: holds the run's lock (its owner took it), starts the ranks unless they were started
/// before, brings what they write into the workspace, and sees to it that the run ends in one state with no
/// process left.
class Supervisor {
  public:
    Supervisor(const std::filesystem::path& workspace, RunId run);

    /// Returns the state that the run ended in. Throws Error when it can't be supervised (a full disk): the
    /// run stays as it is and can be attached to.
    RunState supervise();

  private:
    /// How a run ended, once it did.
    struct Ending {
        RunState state;
        std::string failure;
        int rank = -1;  ///< whose last lines tell more; -1: mpirun's
    };

    /// Who lives, looked at before the ranks' ends are read: a process writes its end before it goes.
    struct Roll {
        std::vector<int> goneRanks;
        bool anyRankSeen = false;
        bool launcherGone = false;
    };

    bool wasStarted() const;
    void start();
    void beat(RunState state);
    void reapLauncher();
    void ingest();
    std::optional<Ending> ending();
    Roll callRoll() const;
    std::optional<Ending> endingOfRanks(const Roll& roll);
    std::optional<Ending> endingOfLauncher(const Roll& roll) const;
    Ending failed(int rank, const std::string& what) const;
    RunState finish(const Ending& ending);
    Ending storeRest(const Ending& ending);
    std::vector<LogLine> lastWords(const Ending& ending) const;

    Workspace workspace_;
    RunRecord run_;
    RunDirectory directory_;
    SpoolIngest ingest_;
    std::optional<std::string> damage_;  ///< of the spool
    int launcherPid_ = 0;                ///< 0 when another runner started it
    std::optional<std::string> launcherEnd_;
    bool launcherWasKilled_ = false;
    std::chrono::steady_clock::time_point started_;
    std::chrono::steady_clock::time_point lastBeat_;
    WaitingTime sinceAllEnded_;
    WaitingTime sinceFirstDeath_;
};

}  // namespace ballast
