// SPDX-License-Identifier: Apache-2.0
#include "core/packing/fit_packer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/packing/dealing.h"

namespace ballast {

FitPacker::FitPacker(const PackerSetup& setup, Rule rule)
    : cost_(&setup.cost),
      limits_(fixedLengthLimits(setup)),
      rule_(rule),
      dp_(setup.scenario.layout.dp),
      microBatchesPerRank_(setup.scenario.microBatches) {}

std::vector<PackedStep> FitPacker::pack(const GlobalBatch& batch) {
    weigh(batch.pieces, *cost_, limits_.limits, limits_.key, carried_);
    return close(batch.partial ? StepKind::Partial : StepKind::Full, false);
}

std::optional<PackedStep> FitPacker::drain() {
    if (ready_.empty() && !carried_.empty()) {
        std::vector<PackedStep> steps = close(StepKind::Drain, true);
        std::move(steps.begin(), steps.end(), std::back_inserter(ready_));
    }
    if (ready_.empty())
        return std::nullopt;
    PackedStep step = std::move(ready_.front());
    ready_.pop_front();
    return step;
}

std::vector<PackedStep> FitPacker::close(StepKind kind, bool incompleteToo) {
    const auto started = std::chrono::steady_clock::now();
    sortLongestFirst(carried_);
    BinAssignment assignment = rule_(carried_, limits_.limits);
    const std::size_t bins =
        assignment.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(assignment)) + 1;
    std::vector<MicroBatch> filled = microBatchesOf(carried_, assignment, bins);
    const std::size_t perStep = static_cast<std::size_t>(dp_) * microBatchesPerRank_;
    const std::size_t groups = incompleteToo ? (bins + perStep - 1) / perStep : bins / perStep;
    filled.resize(std::max(filled.size(), groups * perStep));

    std::vector<WeighedPiece> left;
    for (std::size_t bin = groups * perStep; bin < filled.size(); ++bin)
        for (const Piece& piece : filled[bin].pieces)
            left.push_back({piece, cost_->pieceWork(piece.length())});
    carried_ = std::move(left);

    std::vector<PackedStep> steps(groups);
    for (std::size_t group = 0; group < groups; ++group) {
        PackedStep& step = steps[group];
        step.step = nextStep_++;
        step.kind = kind;
        const auto first = filled.begin() + static_cast<std::ptrdiff_t>(group * perStep);
        step.microBatches.assign(std::make_move_iterator(first),
                                 std::make_move_iterator(first + static_cast<std::ptrdiff_t>(perStep)));
        dealMicroBatches(step.microBatches, dp_, microBatchesPerRank_);
        empty_.add(step);
    }
    const double milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    std::int64_t later = static_cast<std::int64_t>(carried_.size());
    std::int64_t laterTokens = tokensOf(carried_);
    for (PackedStep& step : steps) {
        step.packMilliseconds = milliseconds / static_cast<double>(groups);
        step.carried = {later, 0, laterTokens};
    }
    return steps;
}

std::vector<Piece> FitPacker::waiting() const {
    std::vector<Piece> pieces;
    for (const WeighedPiece& piece : carried_)
        pieces.push_back(piece.piece);
    for (const PackedStep& step : ready_)
        for (const MicroBatch& microBatch : step.microBatches)
            pieces.insert(pieces.end(), microBatch.pieces.begin(), microBatch.pieces.end());
    return pieces;
}

}  // namespace ballast
