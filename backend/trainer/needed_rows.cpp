// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/needed_rows.h"

#include <algorithm>
#include <map>

namespace ballast::backend {

namespace {

/// Packed row after the last query that a rank has of each piece, by the piece's first row.
std::map<std::int64_t, std::int64_t> lastQueries(const std::vector<SliceRows>& slices) {
    std::map<std::int64_t, std::int64_t> ends;
    for (const SliceRows& slice : slices) {
        std::int64_t& end = ends[slice.pieceRow];
        end = std::max(end, slice.copy.packedRow + slice.copy.rows);
    }
    return ends;
}

std::vector<RowCopy> rowsNeededBy(const std::map<std::int64_t, std::int64_t>& lastQueriesOfReceiver,
                                  const std::vector<SliceRows>& slicesOfSender) {
    std::vector<RowCopy> rows;
    for (const SliceRows& slice : slicesOfSender) {
        auto last = lastQueriesOfReceiver.find(slice.pieceRow);
        if (last == lastQueriesOfReceiver.end())
            continue;
        RowCopy needed = slice.copy;
        needed.rows = std::min(needed.rows, last->second - needed.packedRow);
        if (needed.rows > 0)
            rows.push_back(needed);
    }
    return rows;
}

}  // namespace

NeededRows neededRows(std::span<const std::vector<SliceRows>> slices, int rank) {
    const auto own = static_cast<std::size_t>(rank);
    const auto ownQueries = lastQueries(slices[own]);
    NeededRows needed{std::vector<std::vector<RowCopy>>(slices.size()),
                      std::vector<std::vector<RowCopy>>(slices.size())};
    for (std::size_t peer = 0; peer < slices.size(); ++peer) {
        if (peer == own)
            continue;
        needed.sent[peer] = rowsNeededBy(lastQueries(slices[peer]), slices[own]);
        needed.received[peer] = rowsNeededBy(ownQueries, slices[peer]);
    }
    return needed;
}

}  // namespace ballast::backend
