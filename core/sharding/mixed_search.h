// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sharding/key_value_exchange.h"
#include "core/sharding/sharding_cost.h"

namespace ballast {

/// Looks for the split of one micro-batch in which short pieces lie whole on one rank, long ones are spread
/// over as few ranks as balance allows, and every rank gets exactly its share of the tokens.
///
/// A trial takes the pieces longest first. A rank's outlook is its load if its open tokens got the mean work
/// a token of all that is not placed yet; all outlooks together are the whole work, so keeping each below
/// (1 + slack) times its fair share keeps the end balanced. A piece goes whole to the rank of least outlook
/// if it has room and stays below; else it is spread, mirrored as per-document does, over those ranks that
/// may take most of it. Trials differ in `slack` alone: a larger one splits less and balances less.
/// One trial is O(pieces * ranks) additions over costs that were counted once.
class MixedSearch {
  public:
    /// Both must outlive the search. ranks: 2 or more; at least one piece.
    MixedSearch(std::span<const Piece> pieces, const CostModel& cost, int ranks, int dp);

    Sharding best();

  private:
    /// Consecutive tokens of a piece on a rank, from its begin.
    struct Range {
        std::size_t rank = 0;
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    struct Part {
        std::size_t place = 0;  ///< of the piece in the order of length
        Range range;
    };
    struct Trial {
        double slack = 0;
        std::vector<int> rankOf;            ///< by place, of pieces that lie whole, else -1
        std::vector<Part> parts;            ///< of all other pieces, by place and position
        std::vector<std::int64_t> room;     ///< open tokens by rank
        std::vector<double> load;           ///< seconds at speed 1, by rank
        ExchangedTokens exchanged;          ///< kept for the need-based exchange alone
        std::vector<std::int64_t> surplus;  ///< tokens received less tokens sent, by rank; ditto
        double seconds = 0;
    };
    /// What is not placed yet, the piece at hand left out.
    struct Open {
        double seconds = 0;
        double tokens = 0;
        double perToken() const { return tokens > 0 ? seconds / tokens : 0; }
    };

    void sortPieces();
    void consider(double slack);
    bool placeWhole(Trial& trial, std::size_t place, const Open& open) const;
    void spread(Trial& trial, std::size_t place, const Open& open);
    void chooseRanks(const Trial& trial, std::size_t place, const Open& open);
    void chooseShares(const Trial& trial, std::size_t place);
    void alignShares(const Trial& trial);
    void addExchange(Trial& trial) const;
    double secondsOf(const Trial& trial) const;
    Sharding slicesOf(const Trial& trial) const;

    std::span<const Piece> pieces_;
    const CostModel& cost_;
    SliceCost sliceCost_;
    bool needBased_;
    std::vector<double> speeds_;
    std::vector<int> group_;
    double fairSeconds_ = 0;            ///< of a rank of speed 1
    std::vector<std::int64_t> quota_;   ///< tokens by rank
    std::vector<std::size_t> order_;    ///< pieces, longest first
    std::vector<std::int64_t> length_;  ///< by place in that order, as below
    std::vector<double> wholeSeconds_;  ///< of the piece on one rank of speed 1, without launch
    Open all_;
    std::vector<double> wanted_;        ///< tokens of the piece at hand that a rank may take, by rank
    std::vector<std::size_t> takers_;   ///< ranks that get some of it, in the order of their front chunks
    std::vector<std::int64_t> shares_;  ///< by taker
    std::vector<Range> ranges_;         ///< of the piece at hand, in order of position
    Trial trial_;
    Trial best_;
};

}  // namespace ballast
