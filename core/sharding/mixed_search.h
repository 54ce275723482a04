// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/sharding_cost.h"

namespace ballast {

/// Looks for the split of one micro-batch in which the longest pieces are spread over all ranks, the others
/// lie whole on one rank, and every rank gets exactly its share of the tokens.
///
/// A trial spreads the `spread` longest pieces and places the others, longest first, on the rank that would
/// be least loaded at the end if its open tokens got the mean work a token of all that is not placed yet. A
/// piece that fits nowhere is cut into consecutive parts that fill open shares. The spread pieces fill what
/// is open on each rank, in proportion: tokens come out even by construction, and the looking ahead makes
/// work nearly so. Trials differ in `spread` alone: a few sizes that double, then halving steps around the
/// best. One trial is O(pieces * ranks) additions over costs that were counted once.
class MixedSearch {
  public:
    /// Both must outlive the search. ranks: 2 or more; at least one piece.
    MixedSearch(std::span<const Piece> pieces, const CostModel& cost, int ranks, int dp);

    Sharding best();

  private:
    /// Consecutive tokens of a piece, known by its place in the order of length.
    struct Part {
        std::size_t place = 0;
        OwnedRange range;
    };
    struct Trial {
        std::size_t spread = 0;
        std::vector<int> rankOf;         ///< by place, of pieces that lie whole, else -1
        std::vector<Part> parts;         ///< of all other pieces, by place and position
        std::vector<std::int64_t> room;  ///< open tokens by rank
        std::vector<double> load;        ///< seconds at speed 1, by rank
        double seconds = 0;
    };

    void sortPieces();
    void consider(std::size_t spread);
    void placeWhole(Trial& trial);
    void cutIntoRooms(Trial& trial, std::size_t place) const;
    void spreadOverRooms(Trial& trial) const;
    void addPart(Trial& trial, std::size_t place, std::size_t rank, std::int64_t begin,
                 std::int64_t end) const;
    double secondsOf(const Trial& trial) const;
    std::size_t spreadByNecessity() const;
    Sharding slicesOf(const Trial& trial) const;

    std::span<const Piece> pieces_;
    const CostModel& cost_;
    SliceCost sliceCost_;
    bool needBased_;
    std::vector<double> speeds_;
    std::vector<int> group_;
    std::vector<std::int64_t> quota_;   ///< tokens by rank
    std::vector<std::size_t> order_;    ///< pieces, longest first
    std::vector<std::int64_t> length_;  ///< by place in that order, as all below
    std::vector<double> wholeSeconds_;  ///< of the piece on one rank of speed 1, without launch
    std::vector<double> secondsUpTo_;   ///< sums of the places before
    std::vector<std::int64_t> tokensUpTo_;
    std::vector<std::size_t> tried_;
    std::vector<std::size_t> leftOver_;
    Trial trial_;
    Trial best_;
};

}  // namespace ballast
