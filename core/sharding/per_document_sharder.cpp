// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/per_document_sharder.h"

#include <algorithm>
#include <cstddef>

#include "core/base/check.h"
#include "core/sharding/document_chunks.h"
#include "core/sharding/mirrored_chunks.h"
#include "core/sharding/rank_shares.h"
#include "core/sharding/sharding_cost.h"
#include "core/sharding/slice_list.h"

namespace ballast {
namespace {

void shardEqually(std::span<const Piece> pieces, Sharding& sharding) {
    DocumentChunks chunks(pieces, static_cast<int>(sharding.ranks.size()));
    for (std::size_t rank = 0; rank < sharding.ranks.size(); ++rank) {
        Shard& shard = sharding.ranks[rank];
        shard.reserve(2 * pieces.size());
        chunks.forEachOf(static_cast<std::int64_t>(rank), [&](std::size_t i, std::int64_t from,
                                                              std::int64_t to) {
            const Piece& piece = pieces[i];
            shard.push_back({piece.document, piece.begin + from, piece.begin + to, piece.begin, piece.end});
        });
    }
}

void shardBySpeed(std::span<const Piece> pieces, std::span<const double> speeds, Sharding& sharding) {
    ShareDealer dealer(speeds);
    for (const Piece& piece : pieces)
        forEachMirroredChunk(piece.length(), dealer.deal(piece.length()),
                             [&](std::size_t rank, std::int64_t from, std::int64_t to) {
                                 appendSlice(sharding.ranks[rank], piece, from, to);
                             });
}

}  // namespace

Sharding PerDocumentSharder::split(std::span<const Piece> pieces, int dp) const {
    BALLAST_CHECK(ranks_ >= 1);
    Sharding sharding{"per-document", std::vector<Shard>(static_cast<std::size_t>(ranks_))};
    if (cost_) {
        std::vector<double> speeds = contextSpeeds(*cost_, ranks_, dp);
        if (!areEqual(speeds)) {
            shardBySpeed(pieces, speeds, sharding);
            return sharding;
        }
    }
    shardEqually(pieces, sharding);
    return sharding;
}

Seconds PerDocumentSharder::slowestUnless(std::span<const Piece> pieces, int dp, Seconds limit) const {
    BALLAST_CHECK(cost_);
    std::vector<double> speeds = contextSpeeds(*cost_, ranks_, dp);
    if (!areEqual(speeds))
        return slowestRank(split(pieces, dp), *cost_, dp);
    DocumentChunks chunks(pieces, ranks_);
    std::vector<AttentionBlock> blocks;
    blocks.reserve(2 * pieces.size());
    Seconds slowest;
    for (int rank = 0; rank < ranks_; ++rank) {
        blocks.clear();
        chunks.forEachOf(rank, [&](std::size_t, std::int64_t from, std::int64_t to) {
            blocks.push_back({to - from, from});
        });
        slowest = std::max(slowest, (cost_->attention(blocks, Direction::Forward) +
                                     cost_->attention(blocks, Direction::Backward)) /
                                        speeds.front());
        if (slowest >= limit)
            break;
    }
    return slowest;
}

}  // namespace ballast
