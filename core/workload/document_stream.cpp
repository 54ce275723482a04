// SPDX-License-Identifier: Apache-2.0
#include "core/workload/document_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/random.h"

namespace ballast {

namespace {

constexpr std::uint64_t kOrderPurpose = 0x6F72646572ULL;  // "order": apart from the seed's other uses

/// Documents of one epoch in the order of the stream; four bytes a document where that is enough.
class EpochOrder {
  public:
    void shuffle(std::int64_t documents, std::uint64_t seed, std::int64_t epoch) {
        const std::uint64_t orderSeed = Random::stream(seed, kOrderPurpose).next();
        Random random = Random::stream(orderSeed, static_cast<std::uint64_t>(epoch));
        if (documents <= std::numeric_limits<std::uint32_t>::max())
            fisherYates(narrow_, documents, random);
        else
            fisherYates(wide_, documents, random);
        shuffled_ = true;
    }

    std::int64_t document(std::int64_t place) const {
        if (!shuffled_)
            return place;
        const auto index = static_cast<std::size_t>(place);
        return wide_.empty() ? narrow_[index] : wide_[index];
    }

  private:
    template <class Number>
    static void fisherYates(std::vector<Number>& order, std::int64_t documents, Random& random) {
        order.resize(static_cast<std::size_t>(documents));
        std::iota(order.begin(), order.end(), Number{0});
        for (std::size_t last = order.size(); last > 1; --last)
            std::swap(order[last - 1], order[random.below(last)]);
    }

    bool shuffled_ = false;
    std::vector<std::uint32_t> narrow_;
    std::vector<std::int64_t> wide_;
};

}  // namespace

struct DocumentStream::State {
    const LengthSource& source;
    LengthsOptions options;
    std::int64_t batchTokens = 0;

    EpochOrder order;
    std::int64_t epoch = 0;
    std::int64_t place = 0;     ///< of the next document in its epoch
    std::int64_t position = 0;  ///< tokens of the stream that have gone out
    std::int64_t step = 0;
    std::int64_t pieces = 0;
    Piece rest;  ///< what is left of the document at hand; empty: take the next one
    std::vector<Discard> discards;
    std::int64_t empty = 0;

    State(const LengthSource& lengths, const LengthsOptions& chosen, int microBatches)
        : source(lengths), options(chosen) {
        BALLAST_CHECK(microBatches > 0 && options.window > 0);
        if (options.window > std::numeric_limits<std::int64_t>::max() / 4 / microBatches)
            throw Error(fmt::format("lengths.window: {} tokens x {} micro-batches is more than 2^61 tokens",
                                    options.window, microBatches));
        batchTokens = options.window * microBatches;
    }

    /// Makes `rest` the kept part of the next document with tokens; false at the end of the last epoch.
    bool takeDocument();
    /// The next piece as the overlong policy leaves it, not yet cut at window borders.
    Piece nextWhole() const;
};

bool DocumentStream::State::takeDocument() {
    for (;;) {
        const auto documents = source.documents();
        if (documents && (place == 0 || place >= *documents)) {
            if (*documents == 0)
                return false;
            if (place >= *documents) {
                ++epoch;
                place = 0;
            }
            if (epoch >= options.epochs)
                return false;
            if (options.order == DocumentOrder::Shuffled)
                order.shuffle(*documents, options.seed, epoch);
        }
        const std::int64_t document = order.document(place++);
        const std::int64_t length = source.length(document);
        if (length == 0) {
            if (epoch == 0)
                ++empty;
            continue;
        }
        if (length > options.window && options.overlong == OverlongPolicy::Drop) {
            discards.push_back({document, 0, length, "longer than the window: dropped"});
            continue;
        }
        rest = Piece{document, 0, length};
        if (length > options.window && options.overlong == OverlongPolicy::Truncate) {
            discards.push_back({document, options.window, length, "longer than the window: truncated"});
            rest.end = options.window;
        }
        return true;
    }
}

Piece DocumentStream::State::nextWhole() const {
    // Overlong documents split at multiples of the window inside the document.
    const std::int64_t splitEnd = (rest.begin / options.window + 1) * options.window;
    return {rest.document, rest.begin, std::min(rest.end, splitEnd)};
}

DocumentStream::DocumentStream(const LengthSource& source, const LengthsOptions& options, int microBatches)
    : state_(std::make_unique<State>(source, options, microBatches)) {}
DocumentStream::~DocumentStream() = default;
DocumentStream::DocumentStream(DocumentStream&&) noexcept = default;

std::optional<GlobalBatch> DocumentStream::next() {
    State& state = *state_;
    GlobalBatch batch;
    batch.step = state.step;
    const std::int64_t batchEnd = (state.step + 1) * state.batchTokens;
    while (state.position < batchEnd) {
        if (state.rest.length() == 0 && !state.takeDocument()) {
            batch.partial = true;
            break;
        }
        Piece piece = state.nextWhole();
        if (state.options.cut == CutPolicy::Window) {
            const std::int64_t toBorder = state.options.window - state.position % state.options.window;
            piece.end = std::min(piece.end, piece.begin + toBorder);
        }
        piece.arrivalStep = state.step;
        piece.order = state.pieces++;
        state.rest.begin = piece.end;
        state.position += piece.length();
        batch.tokens += piece.length();
        batch.pieces.push_back(piece);
    }
    if (batch.pieces.empty())
        return std::nullopt;
    ++state.step;
    return batch;
}

const std::vector<Discard>& DocumentStream::discards() const {
    return state_->discards;
}
std::int64_t DocumentStream::emptyDocuments() const {
    return state_->empty;
}

}  // namespace ballast
