// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/packing/weighed_piece.h"

namespace ballast {

/// First-in-first-out queues of long pieces, by length: level i holds L_i <= length < L_{i+1}, the last is
/// open above. Delays a long piece until every micro-batch of a step can get one of its size.
/// source: WLB-LLM (OSDI 2025), section 4.2; planner.md section 5.
class OutlierQueues {
  public:
    /// thresholds  L_1..L_n in tokens, strictly ascending; none: nothing is an outlier
    explicit OutlierQueues(std::vector<std::int64_t> thresholds);

    bool isOutlier(std::int64_t length) const {
        return !thresholds_.empty() && length >= thresholds_.front();
    }
    void push(const WeighedPiece& piece);

    /// Every queue that holds at least `count` gives exactly `count`, oldest first, to the end of `out`; the
    /// others give nothing. Once a step.
    void releaseFull(std::size_t count, std::vector<WeighedPiece>& out);
    /// Every queue gives min(count, its size). For the steps after the last batch.
    void releaseUpTo(std::size_t count, std::vector<WeighedPiece>& out);

    std::size_t size() const;
    std::int64_t tokens() const { return tokens_; }
    void listPieces(std::vector<Piece>& out) const;

  private:
    void release(std::deque<WeighedPiece>& queue, std::size_t count, std::vector<WeighedPiece>& out);

    std::vector<std::int64_t> thresholds_;
    std::vector<std::deque<WeighedPiece>> queues_;
    std::int64_t tokens_ = 0;
};

/// Throws Error naming packing.thresholds unless the values are positive and strictly ascending.
void checkThresholds(std::span<const std::int64_t> thresholds);

}  // namespace ballast
