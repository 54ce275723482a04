// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/packing/packer.h"

namespace ballast {

/// max / mean over the non-empty micro-batches of a step: of work seconds and of attention pairs. 1 when
/// there are none.
double imbalanceDegree(const PackedStep& step, const CostModel& cost);
double attentionImbalance(const PackedStep& step);

/// Figures of several steps, planner.md section 1. Fed step by step, so that a stream of any length can be
/// summed up.
class PackingSummary {
  public:
    explicit PackingSummary(const CostModel& cost) : cost_(&cost) {}

    void add(const PackedStep& step);
    /// Pieces that still wait after the last step, with the delay they have by then.
    void addWaiting(std::span<const Piece> pieces, std::int64_t lastStep);

    double imbalanceDegree() const;             ///< sum of max / sum of mean, over all steps
    double imbalanceDegreeMeanOfSteps() const;  ///< mean of the ratios; partial batch and drain left out
    double imbalanceDegreeP95() const;
    double meanDelaySteps() const;
    double meanDisplacementSteps() const;
    std::int64_t maxDelaySteps() const;
    std::int64_t tokens() const { return tokens_; }
    std::int64_t documents() const { return documents_; }

  private:
    const CostModel* cost_;
    double sumOfMax_ = 0;
    double sumOfMean_ = 0;
    std::vector<double> ratios_;
    double delayTokens_ = 0;
    double displacementTokens_ = 0;
    std::int64_t delayedOver_ = 0;
    std::int64_t maxDelay_ = 0;
    std::int64_t tokens_ = 0;
    std::int64_t documents_ = 0;
};

}  // namespace ballast
