// SPDX-License-Identifier: Apache-2.0
#include "core/packing/dealing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/check.h"

namespace ballast {

namespace {

/// Numbers one rank's micro-batches, which are listed heaviest first.
void orderPipeline(std::vector<MicroBatch*>& pipeline) {
    auto firstEmpty = std::find_if(pipeline.begin(), pipeline.end(),
                                   [](const MicroBatch* microBatch) { return microBatch->pieces.empty(); });
    if (firstEmpty - pipeline.begin() > 1)
        std::rotate(pipeline.begin(), firstEmpty - 1, firstEmpty);
    int index = 0;
    for (MicroBatch* microBatch : pipeline)
        microBatch->index = index++;
}

}  // namespace

void dealMicroBatches(std::vector<MicroBatch>& microBatches, int dp, int microBatchesPerRank) {
    BALLAST_CHECK(microBatches.size() == static_cast<std::size_t>(dp) * microBatchesPerRank);
    std::vector<MicroBatch*> heaviestFirst;
    heaviestFirst.reserve(microBatches.size());
    for (MicroBatch& microBatch : microBatches)
        heaviestFirst.push_back(&microBatch);
    std::stable_sort(heaviestFirst.begin(), heaviestFirst.end(),
                     [](const MicroBatch* a, const MicroBatch* b) { return a->work > b->work; });

    std::vector<double> sums(static_cast<std::size_t>(dp));
    std::vector<std::vector<MicroBatch*>> pipelines(static_cast<std::size_t>(dp));
    for (MicroBatch* microBatch : heaviestFirst) {
        std::size_t chosen = sums.size();
        for (std::size_t rank = 0; rank < sums.size(); ++rank) {
            bool hasRoom = pipelines[rank].size() < static_cast<std::size_t>(microBatchesPerRank);
            if (hasRoom && (chosen == sums.size() || sums[rank] < sums[chosen]))
                chosen = rank;
        }
        microBatch->dp = static_cast<int>(chosen);
        sums[chosen] += microBatch->work;
        pipelines[chosen].push_back(microBatch);
    }
    for (std::vector<MicroBatch*>& pipeline : pipelines)
        orderPipeline(pipeline);
    std::sort(microBatches.begin(), microBatches.end(), [](const MicroBatch& a, const MicroBatch& b) {
        return std::pair(a.dp, a.index) < std::pair(b.dp, b.index);
    });
}

}  // namespace ballast
