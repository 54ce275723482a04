// SPDX-License-Identifier: Apache-2.0
#include "core/packing/differencing_packer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/packing/dealing.h"
#include "core/packing/differencing.h"

namespace ballast {
namespace {

constexpr std::string_view kLimitKey = "packing.max_tokens";

/// One part while it is brought under the limits; its pieces longest first.
struct Part {
    std::vector<WeighedPiece> pieces;
    std::int64_t tokens = 0;  ///< aligned

    void add(const WeighedPiece& piece, const MicroBatchLimits& limits) {
        pieces.push_back(piece);
        tokens += limits.alignedLength(piece.piece.length());
    }
    bool isOver(const MicroBatchLimits& limits) const {
        return tokens > limits.maxTokens ||
               (limits.maxDocuments > 0 && static_cast<std::int64_t>(pieces.size()) > limits.maxDocuments);
    }
    /// Its shortest piece, taken out.
    WeighedPiece giveShortest(const MicroBatchLimits& limits) {
        WeighedPiece piece = pieces.back();
        pieces.pop_back();
        tokens -= limits.alignedLength(piece.piece.length());
        return piece;
    }
};

/// The part with most room if it takes the piece.
Part* roomiest(std::vector<Part>& parts, const WeighedPiece& piece, const MicroBatchLimits& limits) {
    auto most = std::ranges::min_element(parts, {}, &Part::tokens);
    return limits.takes(most->tokens, static_cast<std::int64_t>(most->pieces.size()), piece.piece.length())
               ? &*most
               : nullptr;
}

/// Brings every part under the limits; gives back what found no room.
std::vector<WeighedPiece> relieve(std::vector<Part>& parts, const MicroBatchLimits& limits) {
    std::vector<WeighedPiece> given;
    for (Part& part : parts)
        while (part.isOver(limits))
            given.push_back(part.giveShortest(limits));
    std::vector<WeighedPiece> carried;
    sortLongestFirst(given);
    for (const WeighedPiece& piece : given) {
        if (Part* part = roomiest(parts, piece, limits))
            part->add(piece, limits);
        else
            carried.push_back(piece);
    }
    return carried;
}

}  // namespace

DifferencingPacker::DifferencingPacker(const PackerSetup& setup)
    : cost_(&setup.cost),
      limits_(microBatchLimits(setup.scenario, setup.constants.maxTokens, kLimitKey)),
      dp_(setup.scenario.layout.dp),
      microBatchesPerRank_(setup.scenario.microBatches) {}

std::vector<PackedStep> DifferencingPacker::pack(const GlobalBatch& batch) {
    std::vector<WeighedPiece> pieces = carried_;
    weigh(batch.pieces, *cost_, limits_, kLimitKey, pieces);
    std::vector<PackedStep> steps;
    steps.push_back(fill(batch.step, batch.partial ? StepKind::Partial : StepKind::Full, std::move(pieces)));
    return steps;
}

std::optional<PackedStep> DifferencingPacker::drain() {
    if (carried_.empty())
        return std::nullopt;
    return fill(nextStep_, StepKind::Drain, std::move(carried_));
}

PackedStep DifferencingPacker::fill(std::int64_t number, StepKind kind, std::vector<WeighedPiece> pieces) {
    const auto started = std::chrono::steady_clock::now();
    const std::size_t count = static_cast<std::size_t>(dp_) * microBatchesPerRank_;
    sortLongestFirst(pieces);
    std::vector<double> works;
    works.reserve(pieces.size());
    for (const WeighedPiece& piece : pieces)
        works.push_back(piece.work);
    const std::vector<std::int32_t> partOf = partitionByDifferencing(works, count);
    std::vector<Part> parts(count);
    for (std::size_t i = 0; i < pieces.size(); ++i)
        parts[static_cast<std::size_t>(partOf[i])].add(pieces[i], limits_);
    carried_ = relieve(parts, limits_);

    PackedStep step;
    step.step = number;
    step.kind = kind;
    step.microBatches.resize(count);
    for (std::size_t part = 0; part < count; ++part)
        for (const WeighedPiece& piece : parts[part].pieces)
            append(step.microBatches[part], piece);
    dealMicroBatches(step.microBatches, dp_, microBatchesPerRank_);
    step.carried = {static_cast<std::int64_t>(carried_.size()), 0, tokensOf(carried_)};
    nextStep_ = number + 1;
    empty_.add(step);
    step.packMilliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    return step;
}

std::vector<Piece> DifferencingPacker::waiting() const {
    std::vector<Piece> pieces;
    for (const WeighedPiece& piece : carried_)
        pieces.push_back(piece.piece);
    return pieces;
}

}  // namespace ballast
