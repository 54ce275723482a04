// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/striped_sharder.h"

#include "core/sharding/packed_chunks.h"

namespace ballast {

Sharding StripedSharder::split(std::span<const Piece> pieces, int) const {
    return shardPackedChunks(
        "striped", ranks_, pieces, [](std::int64_t stripe) { return stripe * kStripeTokens; },
        [this](std::int64_t stripe) { return stripe % ranks_; });
}

}  // namespace ballast
