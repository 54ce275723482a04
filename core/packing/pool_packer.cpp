// SPDX-License-Identifier: Apache-2.0
#include "core/packing/pool_packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/packing/dealing.h"

namespace ballast {

namespace {

/// Key of the limit that bounds a micro-batch: the window, unless max_tokens is lower.
bool windowBounds(const PackerSetup& setup) {
    return !setup.scenario.packing.maxTokens ||
           *setup.scenario.packing.maxTokens >= setup.scenario.lengths.window;
}

}  // namespace

FixedLengthLimits fixedLengthLimits(const PackerSetup& setup) {
    const std::string_view key = windowBounds(setup) ? "lengths.window" : "packing.max_tokens";
    const std::int64_t tokens =
        windowBounds(setup) ? setup.scenario.lengths.window : *setup.scenario.packing.maxTokens;
    return {microBatchLimits(setup.scenario, tokens, key), key};
}

PoolPacker::PoolPacker(const PackerSetup& setup)
    : cost_(&setup.cost),
      limits_(fixedLengthLimits(setup).limits),
      limitKey_(fixedLengthLimits(setup).key),
      dp_(setup.scenario.layout.dp),
      microBatchesPerRank_(setup.scenario.microBatches),
      batches_(static_cast<std::size_t>(setup.scenario.packing.batches)) {
    if (setup.scenario.packing.batches < 1)
        throw Error(fmt::format("packing.batches={}: expected 1 or more", setup.scenario.packing.batches));
}

std::vector<PackedStep> PoolPacker::pack(const GlobalBatch& batch) {
    weigh(batch.pieces, *cost_, limits_, limitKey_, pool_);
    if (!nextStep_)
        nextStep_ = batch.step;
    kinds_.push_back(batch.partial ? StepKind::Partial : StepKind::Full);
    if (kinds_.size() < batches_)
        return {};
    return packPool();
}

std::optional<PackedStep> PoolPacker::drain() {
    if (ready_.empty()) {
        if (kinds_.empty() && pool_.empty())
            return std::nullopt;
        if (kinds_.empty())
            kinds_.push_back(StepKind::Drain);
        std::vector<PackedStep> steps = packPool();
        std::move(steps.begin(), steps.end(), std::back_inserter(ready_));
    }
    PackedStep step = std::move(ready_.front());
    ready_.pop_front();
    return step;
}

std::vector<PackedStep> PoolPacker::packPool() {
    auto started = std::chrono::steady_clock::now();
    std::size_t perStep = static_cast<std::size_t>(dp_) * microBatchesPerRank_;
    std::vector<MicroBatch> bins = fillBins(kinds_.size() * perStep);
    std::vector<PackedStep> steps;
    auto next = bins.begin();
    for (StepKind kind : kinds_) {
        PackedStep& step = steps.emplace_back();
        step.step = (*nextStep_)++;
        step.kind = kind;
        auto end = next + static_cast<std::ptrdiff_t>(perStep);
        step.microBatches.assign(std::make_move_iterator(next), std::make_move_iterator(end));
        next = end;
        dealMicroBatches(step.microBatches, dp_, microBatchesPerRank_);
        step.carried = {static_cast<std::int64_t>(pool_.size()), 0, tokensOf(pool_)};
        empty_.add(step);
    }
    kinds_.clear();
    double milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    for (PackedStep& step : steps)
        step.packMilliseconds = milliseconds / static_cast<double>(steps.size());
    return steps;
}

std::vector<MicroBatch> PoolPacker::fillBins(std::size_t count) {
    sortLongestFirst(pool_);
    const BinAssignment assignment = assign(pool_, count);
    std::vector<MicroBatch> microBatches = microBatchesOf(pool_, assignment, count);
    std::vector<WeighedPiece> carried;
    for (std::size_t i = 0; i < pool_.size(); ++i)
        if (assignment[i] == kNoBin)
            carried.push_back(pool_[i]);
    pool_ = std::move(carried);
    return microBatches;
}

std::vector<Piece> PoolPacker::waiting() const {
    std::vector<Piece> pieces;
    for (const WeighedPiece& piece : pool_)
        pieces.push_back(piece.piece);
    for (const PackedStep& step : ready_)
        for (const MicroBatch& microBatch : step.microBatches)
            pieces.insert(pieces.end(), microBatch.pieces.begin(), microBatch.pieces.end());
    return pieces;
}

}  // namespace ballast
