// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/units.h"
#include "core/timeline/timeline.h"

namespace ballast::backend {

/// A rank's clock: real time, or the virtual clock of trainer.md ("Two clocks"), which makes measured
/// timelines meaningful where ranks share cores. On the virtual clock only compute spans (by the thread's own
/// CPU time) and modelled transfers move the hand; whatever else the machine does between them costs nothing.
/// Belongs to the rank's one thread.
class RankClock {
  public:
    explicit RankClock(Clock kind) : kind_(kind) {}

    Clock kind() const { return kind_; }
    bool isVirtual() const { return kind_ == Clock::Virtual; }

    /// Time 0, after the barrier before step 0. Wall: `monotonic` ns that all ranks of a machine agreed on.
    void start(Nanoseconds monotonic);

    Nanoseconds now() const;

    /// Around each piece of computation; pairs do not nest.
    void beginCompute();
    void endCompute();

    /// Virtual: the hand moves on to `time` unless it is there already. Real time cannot be moved.
    void advanceTo(Nanoseconds time);

    /// CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID.
    static Nanoseconds monotonic();
    static Nanoseconds threadCpuTime();

  private:
    Clock kind_;
    Nanoseconds origin_ = 0;
    Nanoseconds hand_ = 0;
    Nanoseconds computeSince_ = -1;
};

}  // namespace ballast::backend
