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

    double imbalanceDegree() const;  ///< sum of max / sum of mean, over all steps
    /// Mean and 95th percentile (nearest rank) of the steps' ratios; partial batch and drain left out unless
    /// there is nothing else, steps without micro-batches always.
    double imbalanceDegreeMeanOfSteps() const;
    double imbalanceDegreeP95() const;
    double meanDelaySteps() const;
    double meanDisplacementSteps() const;
    std::int64_t maxDelaySteps() const;
    std::int64_t tokens() const { return tokens_; }
    /// Documents whose first token was trained; a cut one counts once an epoch.
    std::int64_t documents() const { return documents_; }
    std::int64_t pieces() const { return pieces_; }

  private:
    void addDelays(std::span<const Piece> pieces, std::int64_t step);
    const std::vector<double>& stepRatios() const;

    const CostModel* cost_;
    double sumOfMax_ = 0;
    double sumOfMean_ = 0;
    std::vector<double> ratios_;       ///< of full steps
    std::vector<double> otherRatios_;  ///< of the partial batch and the drain
    double delayTokens_ = 0;
    double displacementTokens_ = 0;
    std::int64_t delayedOver_ = 0;
    std::int64_t maxDelay_ = 0;
    std::int64_t tokens_ = 0;
    std::int64_t documents_ = 0;
    std::int64_t pieces_ = 0;
};

}  // namespace ballast
