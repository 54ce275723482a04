// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/mixed_search.h"

#include <algorithm>
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

}  // namespace

MixedSearch::MixedSearch(std::span<const Piece> pieces, const CostModel& cost, int ranks, int dp)
    : pieces_(pieces),
      cost_(cost),
      sliceCost_(cost),
      needBased_(isNeedBased(cost)),
      speeds_(contextSpeeds(cost, ranks, dp)),
      group_(contextGroup(cost, ranks, dp)) {
    BALLAST_CHECK(ranks >= 2 && !pieces.empty());
    sortPieces();
    quota_ = proportionalShares(tokensUpTo_.back(), speeds_);
}

void MixedSearch::sortPieces() {
    order_.resize(pieces_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return pieces_[a].length() > pieces_[b].length(); });
    secondsUpTo_.push_back(0);
    tokensUpTo_.push_back(0);
    for (std::size_t piece : order_) {
        length_.push_back(pieces_[piece].length());
        // Many short pieces have the same length.
        const bool known = length_.size() > 1 && length_[length_.size() - 2] == length_.back();
        wholeSeconds_.push_back(known ? wholeSeconds_.back() : sliceCost_({length_.back(), 0}));
        secondsUpTo_.push_back(secondsUpTo_.back() + wholeSeconds_.back());
        tokensUpTo_.push_back(tokensUpTo_.back() + length_.back());
    }
}

Sharding MixedSearch::best() {
    best_.seconds = std::numeric_limits<double>::infinity();
    const std::size_t all = pieces_.size();
    const std::size_t least = spreadByNecessity();
    consider(0);
    consider(least);
    for (std::size_t more = 1; least + more < all; more *= 2)
        consider(least + more);
    consider(all);
    for (std::size_t step = std::max<std::size_t>(best_.spread / 4, 1); step > 0; step /= 2) {
        const std::size_t centre = best_.spread;
        consider(centre - std::min(centre, step));
        consider(std::min(centre + step, all));
    }
    return slicesOf(best_);
}

/// Pieces that alone keep a rank longer than a perfectly even split would.
std::size_t MixedSearch::spreadByNecessity() const {
    const double even = secondsUpTo_.back() / std::accumulate(speeds_.begin(), speeds_.end(), 0.0);
    const double fastest = *std::max_element(speeds_.begin(), speeds_.end());
    std::size_t place = 0;
    while (place < wholeSeconds_.size() && wholeSeconds_[place] > even * fastest)
        ++place;
    return place;
}

void MixedSearch::consider(std::size_t spread) {
    if (std::find(tried_.begin(), tried_.end(), spread) != tried_.end())
        return;
    tried_.push_back(spread);
    trial_.spread = spread;
    trial_.rankOf.assign(pieces_.size(), kNotWhole);
    trial_.parts.clear();
    trial_.room = quota_;
    trial_.load.assign(speeds_.size(), 0);
    placeWhole(trial_);
    spreadOverRooms(trial_);
    trial_.seconds = secondsOf(trial_);
    if (trial_.seconds < best_.seconds)
        std::swap(trial_, best_);
}

void MixedSearch::placeWhole(Trial& trial) {
    leftOver_.clear();
    const std::size_t ranks = speeds_.size();
    double openSeconds = secondsUpTo_.back();
    auto openTokens = static_cast<double>(tokensUpTo_.back());
    for (std::size_t place = trial.spread; place < pieces_.size(); ++place) {
        const std::int64_t length = length_[place];
        openSeconds -= wholeSeconds_[place];
        openTokens -= static_cast<double>(length);
        const double secondsPerToken = openTokens > 0 ? openSeconds / openTokens : 0;
        std::size_t chosen = ranks;
        double least = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (trial.room[rank] < length)
                continue;
            // The piece's own load and tokens change every rank's outlook alike.
            const double outlook = (trial.load[rank] + wholeSeconds_[place] +
                                    static_cast<double>(trial.room[rank] - length) * secondsPerToken) /
                                   speeds_[rank];
            if (chosen == ranks || outlook < least) {
                chosen = rank;
                least = outlook;
            }
        }
        if (chosen == ranks) {
            leftOver_.push_back(place);
            openSeconds += wholeSeconds_[place];
            openTokens += static_cast<double>(length);
            continue;
        }
        trial.rankOf[place] = static_cast<int>(chosen);
        trial.room[chosen] -= length;
        trial.load[chosen] += wholeSeconds_[place];
    }
    for (std::size_t place : leftOver_)
        cutIntoRooms(trial, place);
}

void MixedSearch::addPart(Trial& trial, std::size_t place, std::size_t rank, std::int64_t begin,
                          std::int64_t end) const {
    if (begin == end)
        return;
    trial.parts.push_back({place, {rank, begin, end}});
    trial.room[rank] -= end - begin;
    trial.load[rank] += sliceCost_({end - begin, begin});
}

/// Few and large parts: the widest room first.
void MixedSearch::cutIntoRooms(Trial& trial, std::size_t place) const {
    for (std::int64_t at = 0; at < length_[place];) {
        const auto widest = std::max_element(trial.room.begin(), trial.room.end());
        const std::int64_t tokens = std::min(*widest, length_[place] - at);
        BALLAST_CHECK(tokens > 0);
        addPart(trial, place, static_cast<std::size_t>(widest - trial.room.begin()), at, at + tokens);
        at += tokens;
    }
}

void MixedSearch::spreadOverRooms(Trial& trial) const {
    std::vector<std::int64_t> shares(speeds_.size());
    for (std::size_t place = 0; place < trial.spread; ++place) {
        const std::int64_t open = std::accumulate(trial.room.begin(), trial.room.end(), std::int64_t{0});
        // Rounded cumulatively, so that shares add up and none is larger than its room.
        std::int64_t roomUpTo = 0;
        std::int64_t shareUpTo = 0;
        for (std::size_t rank = 0; rank < shares.size(); ++rank) {
            roomUpTo += trial.room[rank];
            // A micro-batch is at most 2 windows of 2^31 tokens, so the product fits.
            const auto border = static_cast<std::int64_t>(static_cast<std::uint64_t>(length_[place]) *
                                                          static_cast<std::uint64_t>(roomUpTo) /
                                                          static_cast<std::uint64_t>(open));
            shares[rank] = border - shareUpTo;
            shareUpTo = border;
        }
        forEachMirroredChunk(length_[place], shares,
                             [&](std::size_t rank, std::int64_t begin, std::int64_t end) {
                                 addPart(trial, place, rank, begin, end);
                             });
    }
}

double MixedSearch::secondsOf(const Trial& trial) const {
    double slowest = 0;
    for (std::size_t rank = 0; rank < speeds_.size(); ++rank)
        if (quota_[rank] > 0)
            slowest = std::max(slowest, (trial.load[rank] + sliceCost_.launch()) / speeds_[rank]);
    // Gathering everything takes the same time whatever the trial is.
    if (!needBased_)
        return slowest;
    ExchangedTokens exchanged{speeds_.size(), std::vector<std::int64_t>(speeds_.size() * speeds_.size())};
    std::vector<OwnedRange> ranges;
    for (std::size_t i = 0; i < trial.parts.size(); ++i) {
        ranges.push_back(trial.parts[i].range);
        if (i + 1 == trial.parts.size() || trial.parts[i + 1].place != trial.parts[i].place) {
            addNeededTokens(ranges, exchanged);
            ranges.clear();
        }
    }
    return slowest + 3 * neededExchangeSeconds(exchanged, cost_, group_).value();
}

Sharding MixedSearch::slicesOf(const Trial& trial) const {
    std::vector<std::size_t> placeOf(pieces_.size());
    for (std::size_t place = 0; place < order_.size(); ++place)
        placeOf[order_[place]] = place;
    std::vector<std::size_t> firstPart(pieces_.size() + 1, trial.parts.size());
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
            const OwnedRange& range = trial.parts[i].range;
            appendSlice(sharding.ranks[range.rank], pieces_[piece], range.begin, range.end);
        }
    }
    return sharding;
}

}  // namespace ballast
