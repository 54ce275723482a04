// SPDX-License-Identifier: Apache-2.0
#include "plain_workload_packing.h"

#include <algorithm>

namespace ballast::testing {

PlainWorkloadPacking::MicroBatches PlainWorkloadPacking::pack(const std::vector<Piece>& batch) {
    std::vector<Piece> fresh;
    for (const Piece& piece : batch) {
        int level = -1;
        for (std::size_t i = 0; i < thresholds_.size(); ++i)
            if (piece.length() >= thresholds_[i])
                level = static_cast<int>(i);
        if (level < 0)
            fresh.push_back(piece);
        else
            queued_[static_cast<std::size_t>(level)].push_back(piece);
    }
    for (std::vector<Piece>& queue : queued_)
        if (queue.size() >= count_)
            for (std::size_t i = 0; i < count_; ++i) {
                fresh.push_back(queue.front());
                queue.erase(queue.begin());
            }
    return place(fresh);
}

PlainWorkloadPacking::MicroBatches PlainWorkloadPacking::drain() {
    std::vector<Piece> fresh;
    for (std::vector<Piece>& queue : queued_)
        for (std::size_t i = 0; i < count_ && !queue.empty(); ++i) {
            fresh.push_back(queue.front());
            queue.erase(queue.begin());
        }
    return place(fresh);
}

bool PlainWorkloadPacking::anythingWaits() const {
    return !remained_.empty() ||
           std::any_of(queued_.begin(), queued_.end(), [](const auto& queue) { return !queue.empty(); });
}

PlainWorkloadPacking::MicroBatches PlainWorkloadPacking::place(std::vector<Piece> fresh) {
    std::sort(fresh.begin(), fresh.end(), [](const Piece& a, const Piece& b) {
        return a.length() != b.length() ? a.length() > b.length() : a.order < b.order;
    });
    std::vector<Piece> work = remained_;
    work.insert(work.end(), fresh.begin(), fresh.end());
    remained_.clear();
    MicroBatches microBatches(count_);
    auto workload = [&](std::size_t i) {
        std::int64_t sum = 0;
        for (const Piece& piece : microBatches[i])
            sum += piece.length() * crossover_ + piece.length() * piece.length();
        return sum;
    };
    auto length = [&](std::size_t i) {
        std::int64_t sum = 0;
        for (const Piece& piece : microBatches[i])
            sum += piece.length();
        return sum;
    };
    for (const Piece& piece : work) {
        std::size_t lightest = 0;
        std::size_t shortest = 0;
        for (std::size_t i = 1; i < count_; ++i) {
            if (workload(i) < workload(lightest))
                lightest = i;
            if (length(i) < length(shortest))
                shortest = i;
        }
        if (length(lightest) + piece.length() <= maxTokens_)
            microBatches[lightest].push_back(piece);
        else if (length(shortest) + piece.length() <= maxTokens_)
            microBatches[shortest].push_back(piece);
        else
            remained_.push_back(piece);
    }
    return microBatches;
}

}  // namespace ballast::testing
