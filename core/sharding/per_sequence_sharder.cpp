// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/per_sequence_sharder.h"

#include <algorithm>

#include "core/sharding/packed_chunks.h"

namespace ballast {

Sharding PerSequenceSharder::split(std::span<const Piece> pieces, int) const {
    std::int64_t chunks = 2 * static_cast<std::int64_t>(ranks_);
    return shardPackedChunks("per-sequence", ranks_, pieces, EvenBorders(pieces, chunks),
                             [=](std::int64_t chunk) { return std::min(chunk, chunks - 1 - chunk); });
}

}  // namespace ballast
