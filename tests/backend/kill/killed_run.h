// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/dispatch/run_directory.h"
#include "core/dispatch/runner.h"
#include "tests/support/temporary_directory.h"

namespace ballast::testing {

/// Where in a run a kill falls; in the order in which a run passes them.
enum class Moment { StartUp, Forward, Collective, StepEnd, ShutDown };
inline constexpr Moment kMoments[] = {Moment::StartUp, Moment::Forward, Moment::Collective, Moment::StepEnd,
                                      Moment::ShutDown};
const char* momentName(Moment moment);

/// A real run of a tiny model on four ranks (cp 2, pp 2), started by a process that then follows it, as the
/// studio does.
class KilledRun {
  public:
    static constexpr int kRanks = 4;
    static constexpr int kSteps = 40;

    explicit KilledRun(Random& random);
    ~KilledRun();
    KilledRun(const KilledRun&) = delete;
    KilledRun& operator=(const KilledRun&) = delete;

    /// Waits for the moment, or for the end of the run when it comes first.
    void waitFor(Moment moment);

    void killRank();
    void killLauncher();
    void killRunner();
    void killStudio();

    /// `ballast run --attach DIR` in the foreground; its exit code.
    int attach();
    /// Polls until the run has ended; its state, or Running when it has not within `seconds` of the last
    /// kill.
    RunState endWithin(int seconds);
    RunState state() const;
    std::string failure() const;

    /// Everything that must hold once a run has ended; fails the test otherwise.
    void expectSound() const;
    std::int64_t wholeSteps() const;
    /// Whether a rank has said its last word of a run that went well: on a busy machine a kill may come later
    /// than its moment.
    bool shutsDown() const;
    std::int64_t plannedSteps() const { return plannedSteps_; }

  private:
    Workspace reader() const { return Workspace::open(file_, Workspace::Mode::ReadOnly); }
    RunDirectory directory() const;
    std::vector<RunProcess> trainers() const;
    /// Steps that every rank has written to its spool and said so in its log.
    std::int64_t stepsLoggedByAll() const;
    bool waitUntil(const std::function<bool()>& condition) const;
    void pause(double seconds) const;
    void killProcess(const std::function<bool(const RunProcess&)>& isVictim);

    Random& random_;
    TemporaryDirectory folder_;
    std::filesystem::path file_;
    RunId id_ = 0;
    std::int64_t plannedSteps_ = 0;
    int studio_ = 0;
    std::int64_t killedAt_ = 0;  ///< milliseconds of the steady clock
};

}  // namespace ballast::testing
