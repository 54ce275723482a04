// SPDX-License-Identifier: Apache-2.0
#include "core/packing/workload_packer.h"

#include <chrono>
#include <utility>

#include "core/packing/dealing.h"
#include "core/packing/least_slot.h"

namespace ballast {

namespace {

constexpr std::string_view kLimitKey = "packing.max_tokens";

/// The micro-batches of a step while they are filled: least workload and least length are always at hand.
class OpenMicroBatches {
  public:
    OpenMicroBatches(std::size_t count, const MicroBatchLimits& limits)
        : limits_(limits), microBatches_(count), works_(count), lengths_(count) {}

    /// Into the one of least workload if it fits, else of least length if it fits; else false.
    bool add(const WeighedPiece& piece) {
        for (std::size_t slot : {works_.least(), lengths_.least()}) {
            MicroBatch& microBatch = microBatches_[slot];
            auto documents = static_cast<std::int64_t>(microBatch.pieces.size());
            if (!limits_.takes(lengths_.value(slot), documents, piece.piece.length()))
                continue;
            append(microBatch, piece);
            works_.set(slot, microBatch.work);
            lengths_.set(slot, lengths_.value(slot) + limits_.alignedLength(piece.piece.length()));
            return true;
        }
        return false;
    }

    std::vector<MicroBatch> take() { return std::move(microBatches_); }

  private:
    const MicroBatchLimits& limits_;
    std::vector<MicroBatch> microBatches_;
    LeastSlot<double> works_;
    LeastSlot<std::int64_t> lengths_;
};

}  // namespace

WorkloadPacker::WorkloadPacker(const PackerSetup& setup)
    : cost_(&setup.cost),
      limits_(microBatchLimits(setup.scenario, setup.constants.maxTokens, kLimitKey)),
      dp_(setup.scenario.layout.dp),
      microBatchesPerRank_(setup.scenario.microBatches),
      queues_(setup.constants.thresholds) {
    checkThresholds(setup.constants.thresholds);
}

std::vector<PackedStep> WorkloadPacker::pack(const GlobalBatch& batch) {
    auto started = std::chrono::steady_clock::now();
    std::vector<WeighedPiece> arrived;
    weigh(batch.pieces, *cost_, limits_, kLimitKey, arrived);
    std::vector<WeighedPiece> fresh;
    fresh.reserve(arrived.size());
    for (const WeighedPiece& piece : arrived) {
        if (queues_.isOutlier(piece.piece.length()))
            queues_.push(piece);
        else
            fresh.push_back(piece);
    }
    queues_.releaseFull(static_cast<std::size_t>(dp_) * microBatchesPerRank_, fresh);
    std::vector<PackedStep> steps;
    steps.push_back(fill(batch.step, batch.partial ? StepKind::Partial : StepKind::Full, std::move(fresh)));
    steps.back().packMilliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    return steps;
}

std::optional<PackedStep> WorkloadPacker::drain() {
    if (remained_.empty() && queues_.size() == 0)
        return std::nullopt;
    auto started = std::chrono::steady_clock::now();
    std::vector<WeighedPiece> fresh;
    queues_.releaseUpTo(static_cast<std::size_t>(dp_) * microBatchesPerRank_, fresh);
    PackedStep step = fill(nextStep_, StepKind::Drain, std::move(fresh));
    step.packMilliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    return step;
}

PackedStep WorkloadPacker::fill(std::int64_t number, StepKind kind, std::vector<WeighedPiece> fresh) {
    sortLongestFirst(fresh);
    PackedStep step;
    step.step = number;
    step.kind = kind;
    step.microBatches = place(fresh);
    dealMicroBatches(step.microBatches, dp_, microBatchesPerRank_);
    step.carried = {static_cast<std::int64_t>(remained_.size() + queues_.size()), queues_.tokens(),
                    tokensOf(remained_)};
    nextStep_ = number + 1;
    empty_.add(step);
    return step;
}

std::vector<MicroBatch> WorkloadPacker::place(const std::vector<WeighedPiece>& fresh) {
    OpenMicroBatches open(static_cast<std::size_t>(dp_) * microBatchesPerRank_, limits_);
    std::vector<WeighedPiece> remained;
    for (const std::vector<WeighedPiece>* list :
         {static_cast<const std::vector<WeighedPiece>*>(&remained_), &fresh})
        for (const WeighedPiece& piece : *list)
            if (!open.add(piece))
                remained.push_back(piece);
    remained_ = std::move(remained);
    return open.take();
}

std::vector<Piece> WorkloadPacker::waiting() const {
    std::vector<Piece> pieces;
    for (const WeighedPiece& piece : remained_)
        pieces.push_back(piece.piece);
    queues_.listPieces(pieces);
    return pieces;
}

}  // namespace ballast
