// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/workload/document.h"

namespace ballast {

/// Borders of the per-document chunks of a micro-batch in closed form: 2*ranks chunks a piece, each of
/// length div 2*ranks tokens, and one more where the remainder goes; a cursor over the chunks deals it and
/// goes on from piece to piece.
class DocumentChunks {
  public:
    DocumentChunks(std::span<const Piece> pieces, int ranks) : chunks_(2 * static_cast<std::int64_t>(ranks)) {
        cuts_.reserve(pieces.size());
        std::int64_t cursor = 0;
        for (const Piece& piece : pieces) {
            const std::int64_t remainder = piece.length() % chunks_;
            cuts_.push_back({piece.length() / chunks_, cursor, cursor + remainder});
            cursor = (cursor + remainder) % chunks_;
        }
    }

    /// First token of a chunk, counted from the piece's begin; of chunk 2*ranks its length. O(1).
    std::int64_t border(std::size_t piece, std::int64_t chunk) const {
        const Cut& cut = cuts_[piece];
        // Chunks extraBegin to extraEnd hold a token more, around the end.
        return cut.base * chunk + std::clamp<std::int64_t>(chunk, cut.extraBegin, cut.extraEnd) -
               cut.extraBegin +
               std::clamp<std::int64_t>(chunk, 0, std::max<std::int64_t>(cut.extraEnd - chunks_, 0));
    }

    /// Calls take(piece, begin, end) for the chunks of a rank, piece by piece: chunk `rank` and its mirror
    /// image, or both as one where they touch. Empty ones are left out.
    template <class Take>
    void forEachOf(int rank, const Take& take) const {
        const std::int64_t front = rank;
        const std::int64_t back = chunks_ - 1 - rank;
        for (std::size_t piece = 0; piece < cuts_.size(); ++piece) {
            const std::int64_t begin = border(piece, front);
            const std::int64_t frontEnd = border(piece, front + 1);
            const std::int64_t backBegin = border(piece, back);
            const std::int64_t end = border(piece, back + 1);
            if (frontEnd == backBegin) {
                if (begin < end)
                    take(piece, begin, end);
                continue;
            }
            if (begin < frontEnd)
                take(piece, begin, frontEnd);
            if (backBegin < end)
                take(piece, backBegin, end);
        }
    }

  private:
    struct Cut {
        std::int64_t base;
        std::int64_t extraBegin;
        std::int64_t extraEnd;  ///< may pass the last chunk: the rest starts at chunk 0
    };
    std::int64_t chunks_;
    std::vector<Cut> cuts_;
};

}  // namespace ballast
