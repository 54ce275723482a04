// SPDX-License-Identifier: Apache-2.0
#include "core/packing/bin_assignment.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ballast {
namespace {

struct Load {
    std::int64_t tokens = 0;  ///< aligned
    std::int64_t documents = 0;
    std::int64_t pairs = 0;

    void add(const WeighedPiece& piece, const MicroBatchLimits& limits) {
        tokens += limits.alignedLength(piece.piece.length());
        pairs += attentionPairs({piece.piece.length(), 0});
        ++documents;
    }
};

/// Free room of growing bins; the lowest bin with enough of it costs O(log bins).
class RoomTree {
  public:
    std::size_t size() const { return size_; }
    std::int64_t room(std::size_t bin) const { return most_[capacity_ + bin]; }

    void add(std::int64_t room) {
        if (size_ == capacity_)
            grow();
        set(size_++, room);
    }
    void set(std::size_t bin, std::int64_t room) {
        std::size_t node = capacity_ + bin;
        most_[node] = room;
        for (node /= 2; node > 0; node /= 2)
            most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
    }
    /// size() when there is none.
    std::size_t lowestWith(std::int64_t wanted) const {
        if (size_ == 0 || most_[1] < wanted)
            return size_;
        std::size_t node = 1;
        while (node < capacity_)
            node = most_[2 * node] >= wanted ? 2 * node : 2 * node + 1;
        return node - capacity_;
    }

  private:
    void grow() {
        const std::vector<std::int64_t> old = most_;
        const std::size_t count = capacity_;
        capacity_ = std::max<std::size_t>(2 * capacity_, 16);
        most_.assign(2 * capacity_, kNothing);
        std::copy(old.end() - static_cast<std::ptrdiff_t>(count), old.end(),
                  most_.begin() + static_cast<std::ptrdiff_t>(capacity_));
        for (std::size_t node = capacity_ - 1; node > 0; --node)
            most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
    }

    static constexpr std::int64_t kNothing = -1;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::vector<std::int64_t> most_;  ///< [1] the whole, [capacity_ + bin] a bin
};

bool isFull(const MicroBatchLimits& limits, std::int64_t documents) {
    return limits.maxDocuments > 0 && documents >= limits.maxDocuments;
}

}  // namespace

BinFigures binFigures(std::span<const WeighedPiece> pieces, const BinAssignment& assignment,
                      std::size_t bins) {
    BinFigures figures;
    std::vector<std::int64_t> pairs(bins);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (assignment[i] == kNoBin)
            continue;
        figures.placedTokens += pieces[i].piece.length();
        pairs[static_cast<std::size_t>(assignment[i])] += attentionPairs({pieces[i].piece.length(), 0});
    }
    for (std::int64_t each : pairs)
        figures.mostPairs = std::max(figures.mostPairs, each);
    return figures;
}

BinAssignment assignToLeastPairs(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits,
                                 std::size_t bins) {
    std::vector<Load> loads(bins);
    std::set<std::pair<std::int64_t, std::size_t>> leastFirst;
    for (std::size_t bin = 0; bin < bins; ++bin)
        leastFirst.emplace(0, bin);
    BinAssignment assignment;
    assignment.reserve(pieces.size());
    for (const WeighedPiece& piece : pieces) {
        auto chosen = std::find_if(leastFirst.begin(), leastFirst.end(), [&](const auto& entry) {
            const Load& load = loads[entry.second];
            return limits.takes(load.tokens, load.documents, piece.piece.length());
        });
        if (chosen == leastFirst.end()) {
            assignment.push_back(kNoBin);
            continue;
        }
        assignment.push_back(static_cast<std::int32_t>(chosen->second));
        Load& load = loads[chosen->second];
        load.add(piece, limits);
        auto node = leastFirst.extract(chosen);
        node.value().first = load.pairs;
        leastFirst.insert(std::move(node));
    }
    return assignment;
}

BinAssignment assignFirstFit(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits) {
    RoomTree rooms;
    std::vector<std::int64_t> documents;
    BinAssignment assignment;
    assignment.reserve(pieces.size());
    for (const WeighedPiece& piece : pieces) {
        const std::int64_t length = limits.alignedLength(piece.piece.length());
        const std::size_t bin = rooms.lowestWith(length);
        if (bin == rooms.size()) {
            rooms.add(limits.maxTokens);
            documents.push_back(0);
        }
        assignment.push_back(static_cast<std::int32_t>(bin));
        const bool full = isFull(limits, ++documents[bin]);
        rooms.set(bin, full ? -1 : rooms.room(bin) - length);
    }
    return assignment;
}

BinAssignment assignBestFit(std::span<const WeighedPiece> pieces, const MicroBatchLimits& limits) {
    std::set<std::pair<std::int64_t, std::int32_t>> rooms;  ///< of the open bins
    std::vector<std::int64_t> documents;
    BinAssignment assignment;
    assignment.reserve(pieces.size());
    for (const WeighedPiece& piece : pieces) {
        const std::int64_t length = limits.alignedLength(piece.piece.length());
        auto tightest = rooms.lower_bound({length, 0});
        std::pair<std::int64_t, std::int32_t> bin = {limits.maxTokens,
                                                     static_cast<std::int32_t>(documents.size())};
        if (tightest != rooms.end()) {
            bin = *tightest;
            rooms.erase(tightest);
        } else {
            documents.push_back(0);
        }
        assignment.push_back(bin.second);
        if (!isFull(limits, ++documents[static_cast<std::size_t>(bin.second)]))
            rooms.emplace(bin.first - length, bin.second);
    }
    return assignment;
}

std::vector<MicroBatch> microBatchesOf(std::span<const WeighedPiece> pieces, const BinAssignment& assignment,
                                       std::size_t bins) {
    std::vector<MicroBatch> filled(bins);
    std::vector<std::int64_t> pairs(bins);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (assignment[i] == kNoBin)
            continue;
        const auto bin = static_cast<std::size_t>(assignment[i]);
        append(filled[bin], pieces[i]);
        pairs[bin] += attentionPairs({pieces[i].piece.length(), 0});
    }
    std::vector<std::size_t> order(bins);
    for (std::size_t bin = 0; bin < bins; ++bin)
        order[bin] = bin;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return pairs[a] > pairs[b]; });
    std::vector<MicroBatch> microBatches;
    microBatches.reserve(bins);
    for (std::size_t bin : order)
        microBatches.push_back(std::move(filled[bin]));
    return microBatches;
}

}  // namespace ballast
