// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/error.h"

namespace ballast {
namespace {

/// Sums of offsets stay below this, so that no arithmetic on a plan overflows.
constexpr std::int64_t kMostTokens = std::int64_t{1} << 61;

class StepValidation {
  public:
    StepValidation(const PlanStep& step, const Layout& layout, std::string_view place, std::int64_t epochs)
        : step_(step), layout_(layout), place_(place), epochs_(epochs) {}

    void run() {
        if (step_.step < 0)
            fail("expected a step of 0 or more");
        if (step_.carried.documents < 0 || step_.carried.queuedTokens < 0 || step_.carried.remainedTokens < 0)
            fail("expected counts of 0 or more that are carried over");
        checkPlaces();
        for (const PlannedMicroBatch& planned : step_.microBatches) {
            checkPieces(planned.batch);
            checkShards(planned);
        }
        checkUnique();
    }

  private:
    [[noreturn]] void fail(std::string_view sentence) const {
        throw Error(fmt::format("{}: step {}: {}", place_, step_.step, sentence));
    }
    [[noreturn]] void fail(const MicroBatch& batch, std::string_view sentence) const {
        fail(fmt::format("micro-batch {} of dp {}: {}", batch.index, batch.dp, sentence));
    }

    void checkPlaces() const {
        int dp = -1;
        int index = 0;
        for (const PlannedMicroBatch& planned : step_.microBatches) {
            const MicroBatch& batch = planned.batch;
            if (batch.dp < 0 || batch.dp >= layout_.dp)
                fail(fmt::format("expected dp from 0 to {}, found {}", layout_.dp - 1, batch.dp));
            if (batch.dp < dp)
                fail(batch, fmt::format("expected micro-batches sorted by dp, found it after dp {}", dp));
            index = batch.dp == dp ? index + 1 : 0;
            dp = batch.dp;
            if (batch.index != index)
                fail(batch, fmt::format("expected index {}, found {}", index, batch.index));
        }
    }

    void checkPieces(const MicroBatch& batch) {
        std::int64_t tokens = 0;
        for (const Piece& piece : batch.pieces) {
            if (piece.document < 0 || piece.begin < 0 || piece.end > kMostTokens || piece.begin >= piece.end)
                fail(batch, fmt::format("document {}: expected 0 <= begin < end, found {} to {}",
                                        piece.document, piece.begin, piece.end));
            if (piece.arrivalStep < 0 || piece.order < 0)
                fail(batch,
                     fmt::format("document {}: expected an arrival and a place in the stream of 0 or more",
                                 piece.document));
            if (piece.length() > kMostTokens - tokens || tokens_ > kMostTokens - piece.length())
                fail(batch, fmt::format("document {}: the step's tokens exceed 2^61", piece.document));
            tokens += piece.length();
            tokens_ += piece.length();
        }
        if (tokens != batch.tokens)
            fail(batch,
                 fmt::format("expected {} tokens, the sum of its documents, found {}", tokens, batch.tokens));
        if (!(batch.work >= 0 && batch.work <= std::numeric_limits<double>::max()))
            fail(batch, fmt::format("expected work of 0 or more, found {}", batch.work));
    }

    using PieceKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // document, begin, end

    struct Cover {
        std::int64_t pieces = 0;                               ///< how often the piece is in the micro-batch
        std::vector<std::pair<std::int64_t, int>> edges = {};  ///< offset, +1 begin or -1 end of a slice
    };

    /// Each piece covered by slices exactly as often as it is in the micro-batch.
    void checkShards(const PlannedMicroBatch& planned) const {
        const MicroBatch& batch = planned.batch;
        if (planned.sharding.ranks.size() != static_cast<std::size_t>(layout_.cp))
            fail(batch, fmt::format("expected shards of {} context-parallel ranks, found {}", layout_.cp,
                                    planned.sharding.ranks.size()));
        std::map<PieceKey, Cover> covers;
        for (const Piece& piece : batch.pieces)
            ++covers[{piece.document, piece.begin, piece.end}].pieces;
        for (const Shard& shard : planned.sharding.ranks)
            for (const Slice& slice : shard) {
                auto cover = covers.find({slice.document, slice.pieceBegin, slice.pieceEnd});
                if (cover == covers.end())
                    fail(batch, fmt::format("document {}: a slice names a piece {} to {} that is not in it",
                                            slice.document, slice.pieceBegin, slice.pieceEnd));
                if (slice.begin < slice.pieceBegin || slice.end > slice.pieceEnd || slice.begin >= slice.end)
                    fail(batch, fmt::format("document {}: expected a slice inside {} to {}, found {} to {}",
                                            slice.document, slice.pieceBegin, slice.pieceEnd, slice.begin,
                                            slice.end));
                cover->second.edges.emplace_back(slice.begin, 1);
                cover->second.edges.emplace_back(slice.end, -1);
            }
        for (auto& [key, cover] : covers)
            checkCover(batch, key, cover);
    }

    void checkCover(const MicroBatch& batch, const PieceKey& key, Cover& cover) const {
        auto [document, begin, end] = key;
        std::sort(cover.edges.begin(), cover.edges.end());
        std::int64_t depth = 0;
        std::int64_t at = begin;
        for (const auto& [offset, change] : cover.edges) {
            if (offset > at && depth != cover.pieces)
                fail(batch, fmt::format("document {}: tokens {} to {} are on {} shards, expected {}",
                                        document, at, offset, depth, cover.pieces));
            at = offset;
            depth += change;
        }
        if (at != end)
            fail(batch, fmt::format("document {}: tokens {} to {} are on 0 shards, expected {}", document, at,
                                    end, cover.pieces));
    }

    void checkUnique() const {
        struct Range {
            std::int64_t document, begin, end, order;
            const MicroBatch* batch;
        };
        std::vector<Range> ranges;
        for (const PlannedMicroBatch& planned : step_.microBatches)
            for (const Piece& piece : planned.batch.pieces)
                ranges.push_back({piece.document, piece.begin, piece.end, piece.order, &planned.batch});
        auto sortBy = [&](auto key) {
            std::sort(ranges.begin(), ranges.end(),
                      [&](const Range& a, const Range& b) { return key(a) < key(b); });
        };
        sortBy([](const Range& range) { return range.order; });
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].order == ranges[i - 1].order)
                fail(*ranges[i].batch, fmt::format("document {}: piece {} of the stream is in the step twice",
                                                   ranges[i].document, ranges[i].order));
        if (epochs_ > 1)
            return;
        sortBy([](const Range& range) { return std::pair(range.document, range.begin); });
        for (std::size_t i = 1; i < ranges.size(); ++i)
            if (ranges[i].document == ranges[i - 1].document && ranges[i].begin < ranges[i - 1].end)
                fail(*ranges[i].batch,
                     fmt::format("document {}: tokens {} to {} are in the step twice", ranges[i].document,
                                 ranges[i].begin, std::min(ranges[i].end, ranges[i - 1].end)));
    }

    const PlanStep& step_;
    const Layout& layout_;
    std::string_view place_;
    std::int64_t epochs_;
    std::int64_t tokens_ = 0;
};

}  // namespace

void validatePlanStep(const PlanStep& step, const Layout& layout, std::string_view place,
                      std::int64_t epochs) {
    StepValidation(step, layout, place, epochs).run();
}

}  // namespace ballast
