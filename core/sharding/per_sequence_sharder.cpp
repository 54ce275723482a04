// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/per_sequence_sharder.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "core/sharding/slice_list.h"

namespace ballast {

Sharding PerSequenceSharder::shard(std::span<const Piece> pieces) const {
    BALLAST_CHECK(ranks_ >= 1);
    Sharding sharding{"per-sequence", std::vector<Shard>(static_cast<std::size_t>(ranks_))};
    std::int64_t total = 0;
    for (const Piece& piece : pieces)
        total += piece.length();
    std::int64_t chunks = 2 * static_cast<std::int64_t>(ranks_);
    auto border = [&](std::int64_t chunk) {
        // By parts, so that the product stays small whatever the total.
        return total / chunks * chunk + total % chunks * chunk / chunks;
    };
    std::int64_t chunk = 0;
    std::int64_t pieceStart = 0;
    for (const Piece& piece : pieces) {
        std::int64_t pieceEnd = pieceStart + piece.length();
        for (std::int64_t at = pieceStart; at < pieceEnd;) {
            while (border(chunk + 1) <= at)
                ++chunk;
            std::int64_t end = std::min(border(chunk + 1), pieceEnd);
            std::int64_t rank = std::min(chunk, chunks - 1 - chunk);
            appendSlice(sharding.ranks[static_cast<std::size_t>(rank)], piece, at - pieceStart,
                        end - pieceStart);
            at = end;
        }
        pieceStart = pieceEnd;
    }
    return sharding;
}

}  // namespace ballast
