// SPDX-License-Identifier: Apache-2.0
#include "core/store/content_hash.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/random.h"

namespace ballast {

void ContentHash::add(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    first_ = Random(first_ ^ bits).next();
    second_ = Random(second_ + bits * 0x9E3779B97F4A7C15ULL + 1).next();
}

void ContentHash::add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char letter : text)
        add(static_cast<std::int64_t>(letter));
}

std::string ContentHash::text() const {
    return fmt::format("{:016x}{:016x}", first_, second_);
}

void TrainedPiecesHash::add(const PlanStep& step) {
    for (const PlannedMicroBatch& planned : step.microBatches)
        for (const Piece& piece : planned.batch.pieces)
            ranges_.push_back({piece.document, piece.begin, piece.end});
}

TrainedPieces TrainedPiecesHash::result() const {
    std::vector<Range> sorted = ranges_;
    std::ranges::sort(sorted);
    TrainedPieces trained;
    ContentHash hash;
    for (const Range& range : sorted) {
        ++trained.pieces;
        trained.tokens += range.end - range.begin;
        hash.add(range.document);
        hash.add(range.begin);
        hash.add(range.end);
    }
    trained.hash = hash.text();
    return trained;
}

std::string stepContent(const PlanStep& step) {
    ContentHash hash;
    for (const PlannedMicroBatch& planned : step.microBatches) {
        hash.add(planned.batch.dp);
        hash.add(planned.batch.index);
        hash.add(static_cast<std::int64_t>(planned.batch.pieces.size()));
        for (const Piece& piece : planned.batch.pieces) {
            hash.add(piece.document);
            hash.add(piece.begin);
            hash.add(piece.end);
        }
        hash.add(planned.sharding.strategy);
        for (const Shard& shard : planned.sharding.ranks) {
            hash.add(static_cast<std::int64_t>(shard.size()));
            for (const Slice& slice : shard) {
                hash.add(slice.document);
                hash.add(slice.begin);
                hash.add(slice.end);
            }
        }
    }
    return hash.text();
}

}  // namespace ballast
