// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/packing/weighed_piece.h"

namespace ballast {

/// Which bin each piece of a list goes to.
using BinAssignment = std::vector<std::int32_t>;
inline constexpr std::int32_t kNoBin = -1;  ///< the piece fits nowhere and is carried

/// What fixed-length packers are compared by: first the tokens placed (more is better), then the most
/// attention pairs of any bin (fewer is better).
struct BinFigures {
    std::int64_t placedTokens = 0;
    std::int64_t mostPairs = 0;

    bool isBetterThan(const BinFigures& other) const {
        return placedTokens != other.placedTokens ? placedTokens > other.placedTokens
                                                  : mostPairs < other.mostPairs;
    }
};
BinFigures binFigures(std::span<const WeighedPiece> pieces, const BinAssignment& assignment,
                      std::size_t bins);

/// Each piece in turn into the bin of fewest attention pairs that takes it, ties to the lowest index.
/// O(pieces * log bins) while the first bin tried takes the piece.
BinAssignment assignToLeastPairs(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits,
                                 std::size_t bins);

/// Each piece in turn into the lowest bin that takes it, else into a new one. O(pieces * log bins).
BinAssignment assignFirstFit(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits);

/// Each piece in turn into the fullest bin that takes it, ties to the lowest index, else into a new one. The
/// same cost.
BinAssignment assignBestFit(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits);

/// The bins as micro-batches, most attention pairs first (ties: lower bin first); what has no bin is left
/// out.
std::vector<MicroBatch> microBatchesOf(std::span<const WeighedPiece> pieces, const BinAssignment& assignment,
                                       std::size_t bins);

}  // namespace ballast
