// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "core/base/check.h"
#include "core/sharding/shard.h"
#include "core/sharding/slice_list.h"

namespace ballast {

/// Borders i*S div chunks of a packed sequence of S tokens.
class EvenBorders {
  public:
    EvenBorders(std::span<const Piece> pieces, std::int64_t chunks) : chunks_(chunks) {
        for (const Piece& piece : pieces)
            total_ += piece.length();
    }

    std::int64_t operator()(std::int64_t chunk) const {
        // By parts, so that the product stays small whatever the total.
        return total_ / chunks_ * chunk + total_ % chunks_ * chunk / chunks_;
    }

  private:
    std::int64_t chunks_;
    std::int64_t total_ = 0;
};

/// Cuts the packed sequence, whatever documents lie in it: chunk i is tokens [border(i), border(i+1)), of
/// rank rankOf(i). Borders start at 0, never descend, and reach the end. O(pieces + chunks).
template <class Border, class RankOf>
Sharding shardPackedChunks(const char* strategy, int ranks, std::span<const Piece> pieces,
                           const Border& border, const RankOf& rankOf) {
    BALLAST_CHECK(ranks >= 1);
    Sharding sharding{strategy, std::vector<Shard>(static_cast<std::size_t>(ranks))};
    std::int64_t chunk = 0;
    std::int64_t chunkEnd = border(1);
    std::int64_t pieceStart = 0;
    for (const Piece& piece : pieces) {
        std::int64_t pieceEnd = pieceStart + piece.length();
        for (std::int64_t at = pieceStart; at < pieceEnd;) {
            while (chunkEnd <= at)
                chunkEnd = border(++chunk + 1);
            std::int64_t end = std::min(chunkEnd, pieceEnd);
            appendSlice(sharding.ranks[static_cast<std::size_t>(rankOf(chunk))], piece, at - pieceStart,
                        end - pieceStart);
            at = end;
        }
        pieceStart = pieceEnd;
    }
    return sharding;
}

}  // namespace ballast
