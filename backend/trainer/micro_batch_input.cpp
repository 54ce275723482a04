// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/micro_batch_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "backend/trainer/planted_fault.h"
#include "core/base/error.h"
#include "kernels/cross_entropy.h"

namespace ballast::backend {

namespace {

/// First packed row of each piece, by document and begin.
using PieceRows = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

PieceRows pieceRows(const MicroBatch& batch) {
    PieceRows rows;
    std::int64_t row = 0;
    for (const Piece& piece : batch.pieces) {
        rows[{piece.document, piece.begin}] = row;
        row += piece.length();
    }
    return rows;
}

std::int64_t firstRow(const PieceRows& rows, const Slice& slice, std::int64_t step) {
    auto found = rows.find({slice.document, slice.pieceBegin});
    if (found == rows.end() || slice.begin < slice.pieceBegin || slice.end > slice.pieceEnd ||
        slice.end < slice.begin)
        throw Error(
            fmt::format("plan, step {}: slice [{}, {}) of document {} belongs to no piece of its "
                        "micro-batch",
                        step, slice.begin, slice.end, slice.document));
    return found->second;
}

kernels::AttentionBlock attentionBlock(const Slice& slice, std::int64_t localRow, std::int64_t keyRow) {
    kernels::AttentionBlock block{localRow, slice.tokens(), slice.begin - slice.pieceBegin, keyRow};
    if (planted(PlantedFault::KeyAcrossBorder) && keyRow > 0) {
        ++block.prefix;
        --block.keyOffset;
    }
    return block;
}

void appendPositions(const Slice& slice, std::vector<std::int64_t>& positions) {
    const std::int64_t first =
        planted(PlantedFault::PositionsBreakInsidePiece) ? 0 : slice.begin - slice.pieceBegin;
    for (std::int64_t i = 0; i < slice.tokens(); ++i)
        positions.push_back(first + i);
}

/// Ids of the slice's tokens, and the token after each inside the piece: the last one may lie on another
/// rank, so it is read here rather than asked for there.
void appendTokens(const Slice& slice, const InputNeeds& needs, const TokenSource& source,
                  MicroBatchInput& input) {
    if (!needs.ids && !needs.targets)
        return;
    const bool hasNext = slice.end < slice.pieceEnd;
    std::vector<std::int64_t> ids(static_cast<std::size_t>(slice.tokens() + (hasNext ? 1 : 0)));
    source.read(slice.document, slice.begin, ids);
    const auto count = static_cast<std::ptrdiff_t>(slice.tokens());
    if (needs.ids)
        input.ids.insert(input.ids.end(), ids.begin(), ids.begin() + count);
    if (needs.targets && count > 0) {
        input.targets.insert(input.targets.end(), ids.begin() + 1, ids.end());
        if (!hasNext)
            input.targets.push_back(kernels::kNoTarget);
        else if (planted(PlantedFault::LastTargetOfSliceDropped))
            input.targets.back() = kernels::kNoTarget;
    }
}

bool isIdentity(const std::vector<RowCopy>& copies) {
    return std::ranges::all_of(copies, [](const RowCopy& copy) { return copy.localRow == copy.packedRow; });
}

}  // namespace

MicroBatchInput makeMicroBatchInput(std::int64_t step, const PlannedMicroBatch& planned,
                                    const InputNeeds& needs, const TokenSource& tokens) {
    MicroBatchInput input;
    input.step = step;
    input.index = planned.batch.index;
    const PieceRows rows = pieceRows(planned.batch);
    std::int64_t longest = 0;
    for (const Piece& piece : planned.batch.pieces) {
        input.tokens += piece.length();
        if (piece.length() > longest) {
            longest = piece.length();
            input.heaviestDocument = piece.document;
        }
    }
    std::int64_t covered = 0;
    std::vector<std::vector<SliceRows>> slices(planned.sharding.ranks.size());
    for (std::size_t rank = 0; rank < planned.sharding.ranks.size(); ++rank) {
        std::vector<RowCopy>& copies = input.copies.emplace_back();
        std::int64_t local = 0;
        for (const Slice& slice : planned.sharding.ranks[rank]) {
            const std::int64_t pieceRow = firstRow(rows, slice, step);
            copies.push_back({local, pieceRow + slice.begin - slice.pieceBegin, slice.tokens()});
            slices[rank].push_back({copies.back(), pieceRow});
            if (static_cast<int>(rank) == needs.cpRank) {
                input.blocks.push_back(attentionBlock(slice, local, pieceRow));
                appendPositions(slice, input.positions);
                appendTokens(slice, needs, tokens, input);
            }
            local += slice.tokens();
        }
        input.rankTokens.push_back(local);
        covered += local;
    }
    if (covered != input.tokens || needs.cpRank >= static_cast<int>(input.rankTokens.size()))
        throw Error(
            fmt::format("plan, step {}: the slices of micro-batch {} on dp {} hold {} tokens, its "
                        "pieces {}",
                        step, planned.batch.index, planned.batch.dp, covered, input.tokens));
    input.localTokens = input.rankTokens[static_cast<std::size_t>(needs.cpRank)];
    if (needs.exchange && input.rankTokens.size() > 1) {
        input.needed = neededRows(slices, needs.cpRank);
        input.exchanged = neededTokens(planned.sharding);
    }
    input.localIsPacked = input.rankTokens.size() == 1 && isIdentity(input.copies.front());
    return input;
}

}  // namespace ballast::backend
