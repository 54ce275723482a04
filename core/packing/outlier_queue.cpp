// SPDX-License-Identifier: Apache-2.0
#include "core/packing/outlier_queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast {

OutlierQueues::OutlierQueues(std::vector<std::int64_t> thresholds)
    : thresholds_(std::move(thresholds)), queues_(thresholds_.size()) {}

void OutlierQueues::push(const WeighedPiece& piece) {
    std::int64_t length = piece.piece.length();
    BALLAST_CHECK(isOutlier(length));
    auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), length);
    queues_[static_cast<std::size_t>(above - thresholds_.begin()) - 1].push_back(piece);
    tokens_ += length;
}

void OutlierQueues::releaseFull(std::size_t count, std::vector<WeighedPiece>& out) {
    for (std::deque<WeighedPiece>& queue : queues_)
        if (queue.size() >= count)
            release(queue, count, out);
}

void OutlierQueues::releaseUpTo(std::size_t count, std::vector<WeighedPiece>& out) {
    for (std::deque<WeighedPiece>& queue : queues_)
        release(queue, std::min(count, queue.size()), out);
}

void OutlierQueues::release(std::deque<WeighedPiece>& queue, std::size_t count,
                            std::vector<WeighedPiece>& out) {
    for (std::size_t i = 0; i < count; ++i) {
        tokens_ -= queue.front().piece.length();
        out.push_back(queue.front());
        queue.pop_front();
    }
}

std::size_t OutlierQueues::size() const {
    std::size_t pieces = 0;
    for (const std::deque<WeighedPiece>& queue : queues_)
        pieces += queue.size();
    return pieces;
}

void OutlierQueues::listPieces(std::vector<Piece>& out) const {
    for (const std::deque<WeighedPiece>& queue : queues_)
        for (const WeighedPiece& piece : queue)
            out.push_back(piece.piece);
}

void checkThresholds(std::span<const std::int64_t> thresholds) {
    std::int64_t previous = 0;
    for (std::int64_t threshold : thresholds) {
        if (threshold <= previous)
            throw Error(fmt::format("packing.thresholds=[{}]: expected positive values in ascending order",
                                    fmt::join(thresholds, ", ")));
        previous = threshold;
    }
}

}  // namespace ballast
