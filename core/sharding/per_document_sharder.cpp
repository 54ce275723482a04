// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/per_document_sharder.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "core/sharding/slice_list.h"

namespace ballast {

Sharding PerDocumentSharder::shard(std::span<const Piece> pieces) const {
    BALLAST_CHECK(ranks_ >= 1);
    Sharding sharding{"per-document", std::vector<Shard>(static_cast<std::size_t>(ranks_))};
    std::int64_t chunks = 2 * static_cast<std::int64_t>(ranks_);
    std::int64_t cursor = 0;
    for (const Piece& piece : pieces) {
        std::int64_t base = piece.length() / chunks;
        std::int64_t remainder = piece.length() % chunks;
        std::int64_t at = 0;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
            // The remainder goes to chunks cursor, cursor + 1, ... around the end.
            bool extra = (chunk - cursor + chunks) % chunks < remainder;
            std::int64_t end = at + base + (extra ? 1 : 0);
            std::int64_t rank = std::min(chunk, chunks - 1 - chunk);
            appendSlice(sharding.ranks[static_cast<std::size_t>(rank)], piece, at, end);
            at = end;
        }
        cursor = (cursor + remainder) % chunks;
    }
    return sharding;
}

}  // namespace ballast
