// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/mixed_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/sharding/mirrored_chunks.h"
#include "core/sharding/rank_shares.h"
#include "core/sharding/slice_list.h"

namespace ballast {
namespace {

constexpr int kNotWhole = -1;
/// From perfectly even to whole pieces wherever they fit.
constexpr std::array<double, 9> kSlacks = {0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 100.0};
/// Shares of whole kernel tiles in both chunks waste none. Below a few of them rounding would be coarse.
constexpr std::int64_t kAlignedShare = 2 * kTileQueries;
constexpr std::int64_t kLeastAlignedShare = 4 * kAlignedShare;

}  // namespace

MixedSearch::MixedSearch(std::span<const Piece> pieces, const CostModel& cost, int ranks, int dp)
    : pieces_(pieces),
      cost_(cost),
      sliceCost_(cost),
      needBased_(isNeedBased(cost)),
      speeds_(contextSpeeds(cost, ranks, dp)),
      group_(contextGroup(cost, ranks, dp)),
      wanted_(speeds_.size()) {
    BALLAST_CHECK(ranks >= 2 && !pieces.empty());
    sortPieces();
    fairSeconds_ = all_.seconds / std::accumulate(speeds_.begin(), speeds_.end(), 0.0);
    quota_ = proportionalShares(static_cast<std::int64_t>(all_.tokens), speeds_);
}

void MixedSearch::sortPieces() {
    order_.resize(pieces_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return pieces_[a].length() > pieces_[b].length(); });
    for (std::size_t piece : order_) {
        const std::int64_t length = pieces_[piece].length();
        // Many short pieces have the same length.
        const bool known = !length_.empty() && length_.back() == length;
        wholeSeconds_.push_back(known ? wholeSeconds_.back() : sliceCost_({length, 0}));
        length_.push_back(length);
        all_.seconds += wholeSeconds_.back();
        all_.tokens += static_cast<double>(length);
    }
}

Sharding MixedSearch::best() {
    best_.seconds = std::numeric_limits<double>::infinity();
    for (double slack : kSlacks)
        consider(slack);
    for (double factor : {0.7, 1.4})
        consider(best_.slack * factor);
    return slicesOf(best_);
}

void MixedSearch::consider(double slack) {
    const std::size_t ranks = speeds_.size();
    trial_.slack = slack;
    trial_.rankOf.assign(pieces_.size(), kNotWhole);
    trial_.parts.clear();
    trial_.room = quota_;
    trial_.load.assign(ranks, 0);
    trial_.exchanged.ranks = ranks;
    trial_.exchanged.tokens.assign(needBased_ ? ranks * ranks : 0, 0);
    trial_.surplus.assign(ranks, 0);
    Open open = all_;
    for (std::size_t place = 0; place < pieces_.size(); ++place) {
        open.seconds -= wholeSeconds_[place];
        open.tokens -= static_cast<double>(length_[place]);
        if (!placeWhole(trial_, place, open))
            spread(trial_, place, open);
    }
    trial_.seconds = secondsOf(trial_);
    if (trial_.seconds < best_.seconds)
        std::swap(trial_, best_);
}

bool MixedSearch::placeWhole(Trial& trial, std::size_t place, const Open& open) const {
    const std::int64_t length = length_[place];
    std::size_t chosen = speeds_.size();
    double least = fairSeconds_ * (1 + trial.slack);
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank) {
        if (trial.room[rank] < length)
            continue;
        const double outlook = (trial.load[rank] + wholeSeconds_[place] +
                                static_cast<double>(trial.room[rank] - length) * open.perToken()) /
                               speeds_[rank];
        if (outlook < least) {
            chosen = rank;
            least = outlook;
        }
    }
    if (chosen == speeds_.size())
        return false;
    trial.rankOf[place] = static_cast<int>(chosen);
    trial.room[chosen] -= length;
    trial.load[chosen] += wholeSeconds_[place];
    return true;
}

void MixedSearch::spread(Trial& trial, std::size_t place, const Open& open) {
    chooseRanks(trial, place, open);
    chooseShares(trial, place);
    alignShares(trial);
    ranges_.clear();
    forEachMirroredChunk(length_[place], shares_,
                         [&](std::size_t taker, std::int64_t begin, std::int64_t end) {
                             if (begin < end)
                                 ranges_.push_back({takers_[taker], begin, end});
                         });
    for (const Range& range : ranges_) {
        trial.parts.push_back({place, range});
        trial.room[range.rank] -= range.end - range.begin;
        trial.load[range.rank] += sliceCost_({range.end - range.begin, range.begin});
    }
    if (needBased_)
        addExchange(trial);
}

/// As neededTokens would count it: a mirrored piece's front chunks are needed by all takers, a back chunk by
/// those whose own lie behind it.
void MixedSearch::addExchange(Trial& trial) const {
    const std::size_t ranks = speeds_.size();
    for (std::size_t taker = 0; taker < takers_.size(); ++taker) {
        const std::int64_t front = shares_[taker] / 2;
        std::int64_t sent = 0;
        for (std::size_t to = 0; to < takers_.size(); ++to) {
            if (to == taker || shares_[to] == 0)
                continue;
            const std::int64_t tokens = to < taker ? shares_[taker] : front;
            trial.exchanged.tokens[takers_[taker] * ranks + takers_[to]] += tokens;
            trial.surplus[takers_[to]] += tokens;
            sent += tokens;
        }
        trial.surplus[takers_[taker]] -= sent;
    }
}

/// The fewest ranks that together may take the piece. Outlooks that stay below the limit allow for more
/// tokens of a piece the closer its work a token is to that of what is still open.
void MixedSearch::chooseRanks(const Trial& trial, std::size_t place, const Open& open) {
    const double perToken = wholeSeconds_[place] / static_cast<double>(length_[place]);
    const double excess = perToken - open.perToken();
    takers_.clear();
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank) {
        const auto room = static_cast<double>(trial.room[rank]);
        const double spare =
            fairSeconds_ * (1 + trial.slack) * speeds_[rank] - trial.load[rank] - room * open.perToken();
        wanted_[rank] = excess > 0 && excess * room > spare ? std::max(spare / excess, 0.0) : room;
        if (trial.room[rank] > 0)
            takers_.push_back(rank);
    }
    std::stable_sort(takers_.begin(), takers_.end(),
                     [&](std::size_t a, std::size_t b) { return wanted_[a] > wanted_[b]; });
    double sum = 0;
    std::size_t count = 0;
    while (count < takers_.size() && sum < static_cast<double>(length_[place]))
        sum += wanted_[takers_[count++]];
    takers_.resize(count);
    // The first taker has the piece's last chunk and needs all of it; the last one sends to all others.
    std::stable_sort(takers_.begin(), takers_.end(),
                     [&](std::size_t a, std::size_t b) { return trial.surplus[a] < trial.surplus[b]; });
}

/// In proportion to what is wanted; what nobody wants fills the rooms that are there.
void MixedSearch::chooseShares(const Trial& trial, std::size_t place) {
    double wanted = 0;
    for (std::size_t rank : takers_)
        wanted += wanted_[rank];
    const double scale = wanted > 0 ? std::min(static_cast<double>(length_[place]) / wanted, 1.0) : 0.0;
    std::int64_t left = length_[place];
    shares_.clear();
    for (std::size_t rank : takers_) {
        shares_.push_back(std::min(static_cast<std::int64_t>(wanted_[rank] * scale), trial.room[rank]));
        left -= shares_.back();
    }
    // Evenly first, so that rounding does not pile up on one rank.
    while (left > 0)
        for (std::size_t taker = 0; taker < takers_.size() && left > 0; ++taker) {
            const std::int64_t free = trial.room[takers_[taker]] - shares_[taker];
            const std::int64_t even = std::max<std::int64_t>(left / std::ssize(takers_), 1);
            const std::int64_t more = std::min({free, left, even});
            shares_[taker] += more;
            left -= more;
        }
}

void MixedSearch::alignShares(const Trial& trial) {
    std::int64_t moved = 0;
    for (std::size_t taker = 1; taker < shares_.size(); ++taker) {
        if (shares_[taker] < kLeastAlignedShare)
            return;
        moved += shares_[taker] % kAlignedShare;
    }
    if (shares_.size() < 2 || shares_[0] + moved > trial.room[takers_[0]])
        return;
    // The first taker's later chunk ends where the piece does, at no border of a tile anyway.
    for (std::size_t taker = 1; taker < shares_.size(); ++taker)
        shares_[taker] -= shares_[taker] % kAlignedShare;
    shares_[0] += moved;
}

double MixedSearch::secondsOf(const Trial& trial) const {
    double slowest = 0;
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank)
        if (quota_[rank] > 0)
            slowest = std::max(slowest, (trial.load[rank] + sliceCost_.launch()) / speeds_[rank]);
    // Gathering everything takes the same time whatever the trial is.
    if (!needBased_)
        return slowest;
    return slowest + 3 * neededExchangeSeconds(trial.exchanged, cost_, group_).value();
}

Sharding MixedSearch::slicesOf(const Trial& trial) const {
    std::vector<std::size_t> placeOf(pieces_.size());
    for (std::size_t place = 0; place < order_.size(); ++place)
        placeOf[order_[place]] = place;
    std::vector<std::size_t> firstPart(pieces_.size(), trial.parts.size());
    for (std::size_t i = trial.parts.size(); i-- > 0;)
        firstPart[trial.parts[i].place] = i;
    Sharding sharding{"mixed", std::vector<Shard>(speeds_.size())};
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        const std::size_t place = placeOf[piece];
        if (trial.rankOf[place] != kNotWhole) {
            appendSlice(sharding.ranks[static_cast<std::size_t>(trial.rankOf[place])], pieces_[piece], 0,
                        length_[place]);
            continue;
        }
        for (std::size_t i = firstPart[place]; i < trial.parts.size() && trial.parts[i].place == place; ++i) {
            const Range& range = trial.parts[i].range;
            appendSlice(sharding.ranks[range.rank], pieces_[piece], range.begin, range.end);
        }
    }
    return sharding;
}

}  // namespace ballast
