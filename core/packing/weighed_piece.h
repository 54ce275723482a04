// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/packing/packer.h"

namespace ballast {

/// A piece with its work, computed once when it arrives.
struct WeighedPiece {
    Piece piece;
    double work = 0;  ///< CostModel::pieceWork
};

/// What one micro-batch may hold (planner.md section 4, common options).
struct MicroBatchLimits {
    std::int64_t maxTokens = 0;     ///< of aligned lengths
    std::int64_t align = 1;         ///< lengths count rounded up to a multiple of this
    std::int64_t maxDocuments = 0;  ///< pieces; 0: no limit

    std::int64_t alignedLength(std::int64_t length) const { return (length + align - 1) / align * align; }
    /// Whether a micro-batch that holds `tokens` (aligned) in `documents` pieces takes one more of `length`.
    bool takes(std::int64_t tokens, std::int64_t documents, std::int64_t length) const {
        return tokens + alignedLength(length) <= maxTokens && (maxDocuments == 0 || documents < maxDocuments);
    }
};

/// The limits a scenario states, with `maxTokens` as chosen. Throws Error naming the key when the length is
/// no multiple of `align`, with the nearest values that are.
MicroBatchLimits microBatchLimits(const Scenario& scenario, std::int64_t maxTokens, std::string_view key);

/// Appends the pieces with their work. Throws Error naming `key` and the document when one alone exceeds
/// maxTokens; `pieces` is then unchanged.
void weigh(std::span<const Piece> batch, const CostModel& cost, const MicroBatchLimits& limits,
           std::string_view key, std::vector<WeighedPiece>& pieces);

/// By length descending, then stream order. O(n log n) on small keys.
void sortLongestFirst(std::vector<WeighedPiece>& pieces);

/// Adds a piece to a micro-batch's list, tokens and work.
void append(MicroBatch& microBatch, const WeighedPiece& piece);

std::int64_t tokensOf(std::span<const WeighedPiece> pieces);

/// Steps whose micro-batches are not all filled, drain left out: harmless (their ranks still join the step's
/// reductions), but a person should know.
class EmptyMicroBatchTally {
  public:
    void add(const PackedStep& step);
    std::vector<std::string> notices() const;

  private:
    std::int64_t steps_ = 0;
    std::int64_t stepsWithEmpty_ = 0;
};

}  // namespace ballast
