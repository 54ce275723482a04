// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/sharding/shard.h"

namespace ballast {

/// Appends tokens [from, to) of a piece, counted from its begin, to a shard; nothing when empty. A slice that
/// follows its predecessor in the same piece without a gap lengthens it: the kernel then sees one block.
inline void appendSlice(Shard& shard, const Piece& piece, std::int64_t from, std::int64_t to) {
    if (from == to)
        return;
    Slice slice{piece.document, piece.begin + from, piece.begin + to, piece.begin, piece.end};
    bool samePiece = !shard.empty() && shard.back().document == slice.document &&
                     shard.back().pieceBegin == slice.pieceBegin && shard.back().pieceEnd == slice.pieceEnd;
    if (samePiece && shard.back().end == slice.begin)
        shard.back().end = slice.end;
    else
        shard.push_back(slice);
}

}  // namespace ballast
