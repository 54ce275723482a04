// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/store/workspace.h"

namespace ballast {

/// Places of RunProcess::rank for the processes that are no ranks.
inline constexpr int kMpirunRank = -1;
inline constexpr int kRunnerRank = -2;

/// A process of a run; start time as /proc states it (field 22 of stat), so that a reused pid is never taken
/// for ours.
struct RunProcess {
    int rank = -1;  ///< -1: mpirun, -2: the runner
    std::string host;
    int pid = 0;
    std::int64_t startTime = 0;

    /// The calling process under its host's name.
    static RunProcess current(int rank);
    /// A process of this host by its pid; startTime 0 when it is gone.
    static RunProcess ofPid(int rank, int pid);

    /// True while the very process runs; false for a zombie, a reused pid, or another host's process.
    bool alive() const;
    /// kill(2), but only to the very process; false when it is gone.
    bool signal(int signalNumber) const;
};

/// What ballast-train is given: everything is in files, nothing in its environment.
struct TrainJob {
    std::string scenario;  ///< JSON
    std::string device = "cpu";
    std::string clock = "wall";
    std::optional<std::int64_t> exportStep;
    std::string exportDirectory;
    std::string plan;                    ///< path of the plan file inside the run directory
    std::vector<std::string> arguments;  ///< argv of the launcher, for people
};

/// <workspace>.runs/<id>/: run.json, plan, pids.json (merged from pids/), state.json, stop, lock, logs/,
/// spool/, ends/ (formats.md). Files are the only contract between the runner and the ranks; each JSON file
/// is replaced atomically.
class RunDirectory {
  public:
    explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path planFile() const { return path_ / "plan"; }
    std::filesystem::path spoolFile(int rank) const { return path_ / "spool" / std::to_string(rank); }
    std::filesystem::path logFile(const std::string& name) const { return path_ / "logs" / name; }

    std::filesystem::path spoolFolder() const { return path_ / "spool"; }
    std::filesystem::path lockFile() const { return path_ / "lock"; }

    /// Makes the folder with its parts and writes run.json. Throws Error (WorkFailed) with the path.
    void create(const TrainJob& job) const;
    TrainJob readJob() const;  ///< throws Error with file and key

    /// Each process adds itself; a rank writes pids/<rank>.json, the runner merges them into pids.json.
    void recordProcess(const RunProcess& process) const;
    std::vector<RunProcess> processes() const;
    /// Writes pids.json from pids/.
    void mergeProcesses() const;

    void requestStop() const;
    bool stopRequested() const;
    /// Marks the run as one whose ranks were killed on request, so that its end is "stopped" and not
    /// "failed".
    void requestKill() const;
    bool killRequested() const;

    /// The runner's heartbeat (seconds since 1970) and state.
    void writeState(RunState state, const std::string& failure) const;
    struct StateFile {
        RunState state;
        std::string failure;
        std::int64_t heartbeat;
    };
    std::optional<StateFile> readState() const;

    /// A rank's last word: state "finished" with its steps, or "failed" with one sentence.
    void writeRankEnd(int rank, bool ok, const std::string& sentence) const;
    struct RankEnd {
        bool ok;
        std::string sentence;
    };
    std::optional<RankEnd> rankEnd(int rank) const;

  private:
    std::filesystem::path path_;
};

}  // namespace ballast
