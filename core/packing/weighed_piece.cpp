// SPDX-License-Identifier: Apache-2.0
#include "core/packing/weighed_piece.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace ballast {

MicroBatchLimits microBatchLimits(const Scenario& scenario, std::int64_t maxTokens, std::string_view key) {
    std::int64_t align = scenario.packing.align;
    if (align < 1)
        throw Error(fmt::format("packing.align={}: expected 1 or more", align));
    if (maxTokens % align != 0)
        throw Error(fmt::format("{}={} is not a multiple of packing.align={}; the nearest are {} and {}", key,
                                maxTokens, align, maxTokens / align * align,
                                (maxTokens / align + 1) * align));
    std::int64_t maxDocuments = scenario.packing.maxDocuments.value_or(0);
    if (scenario.packing.maxDocuments && maxDocuments < 1)
        throw Error(fmt::format("packing.max_documents={}: expected 1 or more", maxDocuments));
    return {maxTokens, align, maxDocuments};
}

void weigh(std::span<const Piece> batch, const CostModel& cost, const MicroBatchLimits& limits,
           std::string_view key, std::vector<WeighedPiece>& pieces) {
    for (const Piece& piece : batch)
        if (limits.alignedLength(piece.length()) > limits.maxTokens)
            throw Error(
                fmt::format("{}={} is below the longest piece: document {} brings one of {} tokens in step "
                            "{}; raise it, or cut documents with a smaller lengths.window",
                            key, limits.maxTokens, piece.document, piece.length(), piece.arrivalStep));
    pieces.reserve(pieces.size() + batch.size());
    for (const Piece& piece : batch)
        pieces.push_back({piece, cost.pieceWork(piece.length())});
}

void sortLongestFirst(std::vector<WeighedPiece>& pieces) {
    struct Key {
        std::int64_t length;
        std::int64_t order;
        std::size_t place;
    };
    std::vector<Key> keys(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i)
        keys[i] = {pieces[i].piece.length(), pieces[i].piece.order, i};
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        if (a.length != b.length)
            return a.length > b.length;
        return a.order != b.order ? a.order < b.order : a.place < b.place;
    });
    std::vector<WeighedPiece> sorted;
    sorted.reserve(pieces.size());
    for (const Key& key : keys)
        sorted.push_back(pieces[key.place]);
    pieces.swap(sorted);
}

void append(MicroBatch& microBatch, const WeighedPiece& piece) {
    microBatch.pieces.push_back(piece.piece);
    microBatch.tokens += piece.piece.length();
    microBatch.work += piece.work;
}

std::int64_t tokensOf(std::span<const WeighedPiece> pieces) {
    std::int64_t tokens = 0;
    for (const WeighedPiece& piece : pieces)
        tokens += piece.piece.length();
    return tokens;
}

void EmptyMicroBatchTally::add(const PackedStep& step) {
    if (step.kind == StepKind::Drain)
        return;
    ++steps_;
    if (std::any_of(step.microBatches.begin(), step.microBatches.end(),
                    [](const MicroBatch& microBatch) { return microBatch.pieces.empty(); }))
        ++stepsWithEmpty_;
}

std::vector<std::string> EmptyMicroBatchTally::notices() const {
    if (stepsWithEmpty_ == 0)
        return {};
    return {
        fmt::format("{} of {} steps have empty micro-batches: fewer pieces than micro-batches were at "
                    "hand, and the ranks of an empty one only join the step's reductions",
                    stepsWithEmpty_, steps_)};
}

}  // namespace ballast
