// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/key_value_exchange.h"

#include <algorithm>
#include <bit>

namespace ballast {
namespace {

/// Numbers the pieces that slices name, in the order in which they are met. Open addressing: a micro-batch
/// has thousands of slices and this is asked about each.
class PieceNumbers {
  public:
    explicit PieceNumbers(std::size_t slices) : slots_(std::bit_ceil(2 * slices + 2), kFree) {}

    std::size_t of(const Slice& slice) {
        std::size_t mask = slots_.size() - 1;
        std::uint64_t mixed = (static_cast<std::uint64_t>(slice.document) * 0x9E3779B97F4A7C15ULL) ^
                              (static_cast<std::uint64_t>(slice.pieceBegin) * 0xBF58476D1CE4E5B9ULL);
        for (std::size_t at = (mixed >> 29) & mask;; at = (at + 1) & mask) {
            if (slots_[at] == kFree) {
                slots_[at] = names_.size();
                names_.push_back({slice.document, slice.pieceBegin});
            }
            const Name& name = names_[slots_[at]];
            if (name.document == slice.document && name.begin == slice.pieceBegin)
                return slots_[at];
        }
    }
    std::size_t count() const { return names_.size(); }

  private:
    static constexpr std::size_t kFree = static_cast<std::size_t>(-1);
    struct Name {
        std::int64_t document;
        std::int64_t begin;
    };
    std::vector<std::size_t> slots_;
    std::vector<Name> names_;
};

struct OwnedRange {
    std::size_t rank;
    std::int64_t begin;
    std::int64_t end;
};

/// Adds what a slice of `rank` sends to each rank, whose last query of the piece ends at lastEnd[rank].
void addSlice(const OwnedRange& range, const std::int64_t* lastEnd, ExchangedTokens& exchanged) {
    std::int64_t* row = exchanged.tokens.data() + range.rank * exchanged.ranks;
    for (std::size_t to = 0; to < exchanged.ranks; ++to)
        row[to] += std::max<std::int64_t>(std::min(range.end, lastEnd[to]) - range.begin, 0);
}

void clearDiagonal(ExchangedTokens& exchanged) {
    for (std::size_t rank = 0; rank < exchanged.ranks; ++rank)
        exchanged.tokens[rank * exchanged.ranks + rank] = 0;
}

ExchangedTokens noTokens(std::size_t ranks) {
    return {ranks, std::vector<std::int64_t>(ranks * ranks)};
}

}  // namespace

std::int64_t ExchangedTokens::into(std::size_t rank) const {
    std::int64_t sum = 0;
    for (std::size_t from = 0; from < ranks; ++from)
        sum += sent(from, rank);
    return sum;
}

std::int64_t ExchangedTokens::outOf(std::size_t rank) const {
    std::int64_t sum = 0;
    for (std::size_t to = 0; to < ranks; ++to)
        sum += sent(rank, to);
    return sum;
}

ExchangedTokens gatheredTokens(const Sharding& sharding) {
    ExchangedTokens exchanged = noTokens(sharding.ranks.size());
    for (std::size_t from = 0; from < exchanged.ranks; ++from)
        std::fill_n(exchanged.tokens.begin() + static_cast<std::ptrdiff_t>(from * exchanged.ranks),
                    exchanged.ranks, shardTokens(sharding.ranks[from]));
    clearDiagonal(exchanged);
    return exchanged;
}

ExchangedTokens neededTokens(const Sharding& sharding) {
    ExchangedTokens exchanged = noTokens(sharding.ranks.size());
    std::size_t slices = 0;
    for (const Shard& shard : sharding.ranks)
        slices += shard.size();
    PieceNumbers numbers(slices);
    std::vector<std::size_t> pieceOf;
    pieceOf.reserve(slices);
    for (const Shard& shard : sharding.ranks)
        for (const Slice& slice : shard)
            pieceOf.push_back(numbers.of(slice));
    std::vector<std::int64_t> lastEnd(numbers.count() * exchanged.ranks);
    std::size_t place = 0;
    for (std::size_t rank = 0; rank < exchanged.ranks; ++rank)
        for (const Slice& slice : sharding.ranks[rank]) {
            std::int64_t& last = lastEnd[pieceOf[place++] * exchanged.ranks + rank];
            last = std::max(last, slice.end - slice.pieceBegin);
        }
    place = 0;
    for (std::size_t rank = 0; rank < exchanged.ranks; ++rank)
        for (const Slice& slice : sharding.ranks[rank])
            addSlice({rank, slice.begin - slice.pieceBegin, slice.end - slice.pieceBegin},
                     lastEnd.data() + pieceOf[place++] * exchanged.ranks, exchanged);
    clearDiagonal(exchanged);
    return exchanged;
}

bool isNeedBased(const CostModel& cost) {
    return cost.exchange() == "need-based";
}

ExchangedTokens exchangedTokens(const Sharding& sharding, const CostModel& cost) {
    return isNeedBased(cost) ? neededTokens(sharding) : gatheredTokens(sharding);
}

std::int64_t keyValueBytesPerToken(const CostModel& cost) {
    std::int64_t heads = std::max<std::int64_t>(cost.model().kvHeads / cost.layout().tp, 1);
    return 2 * heads * cost.model().headDim * cost.activationBytes();
}

std::vector<std::int64_t> exchangedBytes(const ExchangedTokens& exchanged, const CostModel& cost) {
    std::vector<std::int64_t> bytes = exchanged.tokens;
    for (std::int64_t& pair : bytes)
        pair *= keyValueBytesPerToken(cost);
    return bytes;
}

Seconds neededExchangeSeconds(const ExchangedTokens& exchanged, const CostModel& cost,
                              std::span<const int> group) {
    return pairwiseExchangeSeconds(cost.cluster(), group, exchangedBytes(exchanged, cost));
}

}  // namespace ballast
