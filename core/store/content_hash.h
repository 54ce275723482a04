// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace ballast {

/// A 128-bit fingerprint of a list of numbers, to tell equal plans from different ones. Not made to withstand
/// someone who looks for collisions. The algorithm is on disk (plans.content).
class ContentHash {
  public:
    void add(std::int64_t number);
    void add(std::string_view text);
    std::string text() const;  ///< 32 hexadecimal digits

  private:
    std::uint64_t first_ = 0x243F6A8885A308D3ULL;  // digits of pi
    std::uint64_t second_ = 0x13198A2E03707344ULL;
};

/// The pieces that some steps train, without regard to step, micro-batch or order.
struct TrainedPieces {
    std::int64_t pieces = 0;
    std::int64_t tokens = 0;
    std::string hash;
};

/// cost  O(pieces log pieces)
class TrainedPiecesHash {
  public:
    void add(const PlanStep& step);
    TrainedPieces result() const;

  private:
    struct Range {
        std::int64_t document, begin, end;
        auto operator<=>(const Range&) const = default;
    };
    std::vector<Range> ranges_;
};

/// Fingerprint of what a step trains and how: its micro-batches, their pieces in order and their shards.
std::string stepContent(const PlanStep& step);

}  // namespace ballast
