// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/simulator/simulator.h"

namespace ballast {

/// Figures of many steps, fed one by one (planner.md section 9): medians and band, figure of merit,
/// breakdown.
class SimulationSummary {
  public:
    void add(const SimulatedStep& step);

    std::int64_t steps() const { return static_cast<std::int64_t>(stepSeconds_.size()); }
    double medianStepSeconds() const;
    /// Linear between the two nearest steps; 0 without steps.
    double stepSecondsPercentile(double percent) const;
    double totalSeconds() const;  ///< sum of step times
    std::int64_t tokens() const { return tokens_; }
    double secondsPerToken() const;  ///< sum of step times / sum of tokens, drain included; 0 without tokens
    double tokensPerSecond() const;
    /// Model FLOPs / (step time * ranks * peak), planner.md section 3.
    double mfu(double peakFlops, int ranks) const;
    double bubble() const;  ///< weighted by step time
    double bubbleSchedule() const;
    double bubbleImbalance() const { return bubble() - bubbleSchedule(); }
    const PeakMemory& memory() const { return memory_; }
    /// Mean over ranks and steps; parts sum to the mean step time.
    RankBreakdown meanBreakdown() const;

  private:
    std::vector<double> stepSeconds_;
    RankBreakdown breakdown_;  ///< sum over steps of the mean over ranks
    double bubbleSeconds_ = 0;
    double bubbleScheduleSeconds_ = 0;
    double modelFlops_ = 0;
    std::int64_t tokens_ = 0;
    PeakMemory memory_;
};

}  // namespace ballast
