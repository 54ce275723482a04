// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/contiguous_sharder.h"

#include "core/sharding/packed_chunks.h"

namespace ballast {

Sharding ContiguousSharder::split(std::span<const Piece> pieces, int) const {
    return shardPackedChunks("contiguous", ranks_, pieces, EvenBorders(pieces, ranks_),
                             [](std::int64_t chunk) { return chunk; });
}

}  // namespace ballast
