// SPDX-License-Identifier: Apache-2.0
#include "core/packing/packing_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ballast {

namespace {

/// Largest and mean over the non-empty micro-batches of a step; `count` 0 when there are none.
struct Spread {
    double largest = 0;
    double mean = 0;
    std::int64_t count = 0;

    double ratio() const { return mean > 0 ? largest / mean : 1; }
};

template <class Measure>
Spread spreadOf(const PackedStep& step, Measure measure) {
    Spread spread;
    double sum = 0;
    for (const MicroBatch& microBatch : step.microBatches) {
        if (microBatch.pieces.empty())
            continue;
        double value = measure(microBatch);
        spread.largest = std::max(spread.largest, value);
        sum += value;
        ++spread.count;
    }
    if (spread.count > 0)
        spread.mean = sum / static_cast<double>(spread.count);
    return spread;
}

Spread workSpread(const PackedStep& step, const CostModel& cost) {
    return spreadOf(step,
                    [&](const MicroBatch& microBatch) { return cost.workload(microBatch.work).value(); });
}

}  // namespace

double imbalanceDegree(const PackedStep& step, const CostModel& cost) {
    return workSpread(step, cost).ratio();
}

double attentionImbalance(const PackedStep& step) {
    return spreadOf(step,
                    [](const MicroBatch& microBatch) {
                        std::int64_t pairs = 0;
                        for (const Piece& piece : microBatch.pieces)
                            pairs += attentionPairs({piece.length(), 0});
                        return static_cast<double>(pairs);
                    })
        .ratio();
}

void PackingSummary::add(const PackedStep& step) {
    Spread spread = workSpread(step, *cost_);
    sumOfMax_ += spread.largest;
    sumOfMean_ += spread.mean;
    if (spread.count > 0)
        (step.kind == StepKind::Full ? ratios_ : otherRatios_).push_back(spread.ratio());
    for (const MicroBatch& microBatch : step.microBatches) {
        addDelays(microBatch.pieces, step.step);
        tokens_ += microBatch.tokens;
        pieces_ += static_cast<std::int64_t>(microBatch.pieces.size());
        documents_ += std::count_if(microBatch.pieces.begin(), microBatch.pieces.end(),
                                    [](const Piece& piece) { return piece.begin == 0; });
    }
}

void PackingSummary::addWaiting(std::span<const Piece> pieces, std::int64_t lastStep) {
    addDelays(pieces, lastStep);
}

void PackingSummary::addDelays(std::span<const Piece> pieces, std::int64_t step) {
    for (const Piece& piece : pieces) {
        std::int64_t delay = step - piece.arrivalStep;
        auto tokens = static_cast<double>(piece.length());
        delayTokens_ += static_cast<double>(std::max<std::int64_t>(delay, 0)) * tokens;
        displacementTokens_ += static_cast<double>(std::abs(delay)) * tokens;
        delayedOver_ += piece.length();
        maxDelay_ = std::max(maxDelay_, delay);
    }
}

double PackingSummary::imbalanceDegree() const {
    return sumOfMean_ > 0 ? sumOfMax_ / sumOfMean_ : 1;
}

const std::vector<double>& PackingSummary::stepRatios() const {
    return ratios_.empty() ? otherRatios_ : ratios_;
}

double PackingSummary::imbalanceDegreeMeanOfSteps() const {
    const std::vector<double>& ratios = stepRatios();
    if (ratios.empty())
        return 1;
    double sum = 0;
    for (double ratio : ratios)
        sum += ratio;
    return sum / static_cast<double>(ratios.size());
}

double PackingSummary::imbalanceDegreeP95() const {
    std::vector<double> ratios = stepRatios();
    if (ratios.empty())
        return 1;
    std::size_t rank = (ratios.size() * 95 + 99) / 100;  // nearest rank: ceil(0.95 n), from 1
    auto place = ratios.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(ratios.begin(), place, ratios.end());
    return *place;
}

double PackingSummary::meanDelaySteps() const {
    return delayedOver_ > 0 ? delayTokens_ / static_cast<double>(delayedOver_) : 0;
}

double PackingSummary::meanDisplacementSteps() const {
    return delayedOver_ > 0 ? displacementTokens_ / static_cast<double>(delayedOver_) : 0;
}

std::int64_t PackingSummary::maxDelaySteps() const {
    return maxDelay_;
}

}  // namespace ballast
