// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/supervisor.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>

#include "core/base/error.h"
#include "core/dispatch/launcher_log.h"
#include "core/dispatch/run_processes.h"
#include "core/dispatch/scratch_folder.h"

namespace ballast {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kPoll(100);  // a step shows within 200 ms (trainer.md)
constexpr seconds kHeartbeat(1);
constexpr seconds kStartPatience(120);   // from mpirun's start to the first rank's word
constexpr seconds kEndPatience(15);      // for mpirun to end after the last rank said it finished
constexpr seconds kLauncherPatience(2);  // for mpirun to notice a dead rank
constexpr milliseconds kGrace(3000);     // between TERM and KILL
constexpr std::size_t kLastLines = 40;
constexpr int kStoreAttempts = 30;

std::int64_t now() {
    return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string statusText(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

Supervisor::Supervisor(const std::filesystem::path& workspace, RunId run)
    : workspace_(Workspace::open(workspace, Workspace::Mode::ReadWrite)),
      run_(workspace_.run(run)),
      directory_(workspace_.runDirectory(run)),
      ingest_(workspace_, run, directory_.spoolFolder()),
      started_(steady_clock::now()) {}

RunState Supervisor::supervise() {
    directory_.recordProcess(RunProcess::current(kRunnerRank));
    // The state file says whether an earlier runner got as far as starting the ranks.
    if (!directory_.readState() || !wasStarted())
        start();
    for (;;) {
        reapLauncher();
        if (steady_clock::now() - lastBeat_ >= kHeartbeat)
            beat(directory_.stopRequested() ? RunState::Stopping : RunState::Running);
        ingest();
        if (const std::optional<Ending> end = ending())
            return finish(*end);
        std::this_thread::sleep_for(kPoll);
    }
}

bool Supervisor::wasStarted() const {
    // A runner killed between its first word and mpirun's leaves a state file and nothing else; mpirun's
    // record is written within the same instant, or never.
    for (int attempt = 0; attempt < 10; ++attempt) {
        if (!directory_.processes().empty() && directory_.processes().back().rank >= kMpirunRank)
            return true;
        std::this_thread::sleep_for(kPoll);
    }
    return !startedFor(directory_).empty();
}

void Supervisor::start() {
    beat(RunState::Running);
    std::vector<std::string> environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                            "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"};
    for (std::string& variable : makeScratchFolder(directory_))
        environment.push_back(std::move(variable));
    launcherPid_ = launchRecorded(directory_, directory_.readJob().arguments, environment,
                                  directory_.logFile("launcher.log"));
}

void Supervisor::beat(RunState state) {
    lastBeat_ = steady_clock::now();
    directory_.writeState(state, "");
    directory_.mergeProcesses();
    if (run_.state == state)
        return;
    try {
        workspace_.setRunState(run_.id, state);
        run_.state = state;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::BadInput)
            throw;  // a busy workspace is asked again with the next beat
    }
}

void Supervisor::reapLauncher() {
    if (launcherPid_ == 0 || launcherEnd_)
        return;
    int status = 0;
    if (::waitpid(launcherPid_, &status, WNOHANG) != launcherPid_)
        return;
    launcherEnd_ = statusText(status);
    launcherWasKilled_ = WIFSIGNALED(status);
}

void Supervisor::ingest() {
    if (damage_)
        return;
    try {
        ingest_.storeFinishedSteps();
    } catch (const Error& error) {
        // A busy workspace or a full disk may be better in a while, and the spool keeps what is not stored
        // yet.
        if (error.code() == ErrorCode::BadInput)
            damage_ = error.what();
    }
}

Supervisor::Ending Supervisor::failed(int rank, const std::string& what) const {
    std::string host = run_.host;
    for (const RunProcess& process : directory_.processes())
        if (process.rank == rank)
            host = process.host;
    return {RunState::Failed, fmt::format("rank {} on {}: {}", rank, host, what), rank};
}

Supervisor::Roll Supervisor::callRoll() const {
    Roll roll;
    bool launcherSeen = false;
    for (const RunProcess& process : directory_.processes()) {
        if (process.rank >= 0) {
            roll.anyRankSeen = true;
            if (!process.alive())
                roll.goneRanks.push_back(process.rank);
        } else if (process.rank == kMpirunRank) {
            launcherSeen = process.alive();
        }
    }
    // Between fork and its record the launcher is known by its pid alone.
    roll.launcherGone = launcherPid_ != 0 ? launcherEnd_.has_value() : !launcherSeen;
    return roll;
}

std::optional<Supervisor::Ending> Supervisor::ending() {
    if (damage_)
        return Ending{RunState::Failed, *damage_, -1};
    const Roll roll = callRoll();
    std::optional<Ending> end = endingOfRanks(roll);
    if (!end)
        end = endingOfLauncher(roll);
    if (end && end->state == RunState::Failed && directory_.killRequested())
        return Ending{RunState::Stopped, "", -1};
    return end;
}

std::optional<Supervisor::Ending> Supervisor::endingOfRanks(const Roll& roll) {
    int finished = 0;
    std::vector<int> silent;
    for (int rank = 0; rank < run_.layout.worldSize(); ++rank) {
        const auto end = directory_.rankEnd(rank);
        if (end && !end->ok)
            return failed(rank, end->sentence);
        finished += end ? 1 : 0;
        if (!end && std::ranges::count(roll.goneRanks, rank))
            silent.push_back(rank);
    }
    if (finished == run_.layout.worldSize()) {
        if (sinceAllEnded_.elapsed() < kEndPatience && !roll.launcherGone)
            return std::nullopt;
        const bool early = directory_.stopRequested() && ingest_.finishedSteps() < run_.plannedSteps;
        return Ending{early ? RunState::Stopped : RunState::Done, "", -1};
    }
    // Ranks that go because mpirun was killed are not to blame.
    if (silent.empty() || launcherWasKilled_)
        return std::nullopt;
    // mpirun ends all ranks when one dies, and says which one was first: it gets a moment to do so.
    if (sinceFirstDeath_.elapsed() < kLauncherPatience && !roll.launcherGone)
        return std::nullopt;
    const std::optional<int> named = LauncherLog(directory_.logFile("launcher.log")).rankThatEndedTheJob();
    const int rank = named && std::ranges::count(silent, *named) ? *named : silent.front();
    return failed(rank, "died without a word (killed, or out of memory)");
}

std::optional<Supervisor::Ending> Supervisor::endingOfLauncher(const Roll& roll) const {
    if (roll.launcherGone) {
        const std::string how = launcherEnd_.value_or("ended while no runner watched");
        if (const auto named = LauncherLog(directory_.logFile("launcher.log")).rankThatEndedTheJob())
            return failed(*named, fmt::format("died without a word; mpirun {}", how));
        return Ending{RunState::Failed, fmt::format("mpirun {}, before every rank had finished", how), -1};
    }
    if (!roll.anyRankSeen && steady_clock::now() - started_ > kStartPatience)
        return Ending{RunState::Failed,
                      fmt::format("no rank has started within {} s of mpirun", kStartPatience.count()), -1};
    return std::nullopt;
}

std::vector<LogLine> Supervisor::lastWords(const Ending& ending) const {
    std::vector<LogLine> lines = {{now(), ending.rank, ending.failure}};
    for (std::string& text :
         LauncherLog(directory_.logFile("launcher.log")).lastLines(ending.rank, kLastLines))
        lines.push_back({now(), ending.rank, std::move(text)});
    return lines;
}

/// What the spool still holds and the state go into the workspace; a spool that turns out damaged decides the
/// state.
Supervisor::Ending Supervisor::storeRest(const Ending& ending) {
    Ending final = ending;
    try {
        if (!damage_) {
            ingest_.storeFinishedSteps();
            ingest_.storePartialStep();
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::BadInput)
            throw;
        damage_ = error.what();
        final = {RunState::Failed, error.what(), -1};
    }
    directory_.mergeProcesses();
    directory_.writeState(final.state, final.failure);
    if (final.state == RunState::Failed)
        workspace_.addLog(run_.id, lastWords(final));
    // Last: who sees the end in the workspace finds everything else done.
    workspace_.setRunState(run_.id, final.state, final.failure);
    return final;
}

RunState Supervisor::finish(const Ending& ending) {
    const bool allGone = endProcesses(directory_, kGrace);
    reapLauncher();
    removeScratchFolder(directory_);
    Ending final = ending;
    if (!allGone && final.failure.empty())
        final = {RunState::Failed, "processes of the run outlive a KILL; see pids.json", -1};
    for (int attempt = 1;; ++attempt) {
        try {
            return storeRest(final).state;
        } catch (const Error& error) {
            // A busy workspace; each attempt has waited its 10 s.
            if (error.code() == ErrorCode::BadInput || attempt == kStoreAttempts)
                throw;
            directory_.writeState(RunState::Running, "");
        }
    }
}

}  // namespace ballast
