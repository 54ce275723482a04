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

    double medianStepSeconds() const;
    double stepSecondsPercentile(double percent) const;
    double secondsPerToken() const;  ///< sum of step times / sum of tokens, drain included
    double tokensPerSecond() const;
    double mfu(double peakFlops, int ranks) const;
    double bubble() const;
    double bubbleSchedule() const;
    const PeakMemory& memory() const { return memory_; }
    /// Mean over ranks and steps; parts sum to the mean step time.
    RankBreakdown meanBreakdown() const;

  private:
    std::vector<double> stepSeconds_;
    std::vector<RankBreakdown> breakdowns_;
    double bubbleSeconds_ = 0;
    double bubbleScheduleSeconds_ = 0;
    double modelFlops_ = 0;
    std::int64_t tokens_ = 0;
    PeakMemory memory_;
};

}  // namespace ballast
