// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ballast::backend {

/// Consecutive tokens: rows of one rank's activations, and the rows where packed order has them.
struct RowCopy {
    std::int64_t localRow = 0;
    std::int64_t packedRow = 0;
    std::int64_t rows = 0;
};

/// A slice of some rank: its rows, and the packed row at which its piece starts.
struct SliceRows {
    RowCopy copy;
    std::int64_t pieceRow = 0;
};

/// What one rank sends and receives in a need-based exchange of keys and values: by cp rank, in the order of
/// the sender's slices on both sides, so that no message needs a description. Nothing for the rank itself.
struct NeededRows {
    std::vector<std::vector<RowCopy>> sent;      ///< localRow: this rank's
    std::vector<std::vector<RowCopy>> received;  ///< localRow: the sender's
};

/// A row goes to each other rank that has a later query of the same piece (key_value_exchange.h, which counts
/// the same rows). slices: of all ranks. O(all slices * log pieces + own slices * ranks).
NeededRows neededRows(std::span<const std::vector<SliceRows>> slices, int rank);

}  // namespace ballast::backend
