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
            const std::int64_t base = piece.length() / chunks_;
            const std::int64_t end = cursor + piece.length() - base * chunks_;
            const bool wraps = end >= chunks_;
            cuts_.push_back({base, cursor, end, wraps ? end - chunks_ : 0});
            cursor = wraps ? end - chunks_ : end;
        }
    }

    /// Calls take(piece, begin, end) for the chunks of a rank, piece by piece: chunk `rank` and its mirror
    /// image, or both as one where they touch. Positions count from the piece's begin. Empty ones are left
    /// out.
    template <class Take>
    void forEachOf(std::int64_t rank, const Take& take) const {
        const std::int64_t back = chunks_ - 1 - rank;
        const bool touch = rank + 1 == back;
        for (std::size_t piece = 0; piece < cuts_.size(); ++piece) {
            const Cut& cut = cuts_[piece];
            const std::int64_t begin = border(cut, rank);
            const std::int64_t frontEnd = begin + cut.base + extra(cut, rank);
            const std::int64_t backBegin = touch ? frontEnd : border(cut, back);
            const std::int64_t end = backBegin + cut.base + extra(cut, back);
            // Short pieces may have nothing between the two.
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
        std::int64_t extraEnd;    ///< chunks extraBegin to extraEnd have a token more;
        std::int64_t wrappedEnd;  ///< and so have the first ones, where that passes the last chunk
    };

    /// First token of a chunk. The compiler makes this free of branches.
    static std::int64_t border(const Cut& cut, std::int64_t chunk) {
        return cut.base * chunk + std::min(chunk, cut.wrappedEnd) +
               std::max<std::int64_t>(std::min(chunk, cut.extraEnd) - cut.extraBegin, 0);
    }
    static std::int64_t extra(const Cut& cut, std::int64_t chunk) {
        return (chunk < cut.wrappedEnd || (chunk >= cut.extraBegin && chunk < cut.extraEnd)) ? 1 : 0;
    }

    std::int64_t chunks_;
    std::vector<Cut> cuts_;
};

}  // namespace ballast
