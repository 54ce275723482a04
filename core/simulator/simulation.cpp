// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ballast {

void SimulationSummary::add(const SimulatedStep& step) {
    double seconds = step.stepTime.value();
    stepSeconds_.push_back(seconds);
    RankBreakdown mean;
    for (const RankBreakdown& rank : step.ranks)
        mean += rank;
    if (!step.ranks.empty())
        mean *= 1.0 / static_cast<double>(step.ranks.size());
    breakdown_ += mean;
    bubbleSeconds_ += step.bubble * seconds;
    bubbleScheduleSeconds_ += step.bubbleSchedule * seconds;
    modelFlops_ += step.modelFlops;
    tokens_ += step.tokens;
    if (step.memory.gib > memory_.gib || stepSeconds_.size() == 1)
        memory_ = step.memory;
}

double SimulationSummary::medianStepSeconds() const {
    return stepSecondsPercentile(50);
}

double SimulationSummary::stepSecondsPercentile(double percent) const {
    if (stepSeconds_.empty())
        return 0;
    std::vector<double> sorted = stepSeconds_;
    std::sort(sorted.begin(), sorted.end());
    double place = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(sorted.size() - 1);
    auto below = static_cast<std::size_t>(place);
    std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

double SimulationSummary::totalSeconds() const {
    return std::accumulate(stepSeconds_.begin(), stepSeconds_.end(), 0.0);
}

double SimulationSummary::secondsPerToken() const {
    return tokens_ > 0 ? totalSeconds() / static_cast<double>(tokens_) : 0;
}

double SimulationSummary::tokensPerSecond() const {
    double seconds = totalSeconds();
    return seconds > 0 ? static_cast<double>(tokens_) / seconds : 0;
}

double SimulationSummary::mfu(double peakFlops, int ranks) const {
    double most = totalSeconds() * ranks * peakFlops;
    return most > 0 ? modelFlops_ / most : 0;
}

double SimulationSummary::bubble() const {
    double seconds = totalSeconds();
    return seconds > 0 ? bubbleSeconds_ / seconds : 0;
}

double SimulationSummary::bubbleSchedule() const {
    double seconds = totalSeconds();
    return seconds > 0 ? bubbleScheduleSeconds_ / seconds : 0;
}

RankBreakdown SimulationSummary::meanBreakdown() const {
    RankBreakdown mean = breakdown_;
    if (!stepSeconds_.empty())
        mean *= 1.0 / static_cast<double>(stepSeconds_.size());
    return mean;
}

}  // namespace ballast
