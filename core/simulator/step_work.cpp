// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/step_work.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "core/sharding/key_value_exchange.h"

namespace ballast {

std::int64_t StepWork::microBatches() const {
    std::int64_t count = 0;
    for (const auto& pipeline : pipelines)
        count += static_cast<std::int64_t>(pipeline.size());
    return count;
}

double StepWork::attentionPairs() const {
    double pairs = 0;
    for (const auto& pipeline : pipelines)
        for (const MicroBatchWork& work : pipeline)
            pairs = std::accumulate(work.attentionPairs.begin(), work.attentionPairs.end(), pairs);
    return pairs;
}

StepWork stepTokens(std::int64_t step, const std::vector<MicroBatch>& microBatches,
                    const std::vector<Sharding>& shardings, const Layout& layout) {
    BALLAST_CHECK(microBatches.size() == shardings.size());
    StepWork work;
    work.step = step;
    work.pipelines.resize(static_cast<std::size_t>(layout.dp));
    for (std::size_t i = 0; i < microBatches.size(); ++i) {
        const MicroBatch& batch = microBatches[i];
        if (batch.tokens == 0)
            continue;
        MicroBatchWork entry;
        entry.index = batch.index;
        entry.tokens = batch.tokens;
        BALLAST_CHECK(shardings[i].ranks.size() == static_cast<std::size_t>(layout.cp));
        for (const Shard& shard : shardings[i].ranks)
            entry.rankTokens.push_back(shardTokens(shard));
        auto heaviest =
            std::max_element(batch.pieces.begin(), batch.pieces.end(),
                             [](const Piece& a, const Piece& b) { return a.length() < b.length(); });
        if (heaviest != batch.pieces.end())
            entry.heaviestDocument = heaviest->document;
        work.tokens += batch.tokens;
        work.pipelines.at(static_cast<std::size_t>(batch.dp)).push_back(std::move(entry));
    }
    for (auto& pipeline : work.pipelines)
        std::stable_sort(pipeline.begin(), pipeline.end(),
                         [](const MicroBatchWork& a, const MicroBatchWork& b) { return a.index < b.index; });
    return work;
}

StepWork stepWork(std::int64_t step, const std::vector<MicroBatch>& microBatches,
                  const std::vector<Sharding>& shardings, const CostModel& cost) {
    StepWork work = stepTokens(step, microBatches, shardings, cost.layout());
    for (std::size_t i = 0; i < microBatches.size(); ++i) {
        auto& pipeline = work.pipelines.at(static_cast<std::size_t>(microBatches[i].dp));
        auto entry = std::find_if(pipeline.begin(), pipeline.end(), [&](const MicroBatchWork& candidate) {
            return candidate.index == microBatches[i].index;
        });
        if (microBatches[i].tokens == 0 || entry == pipeline.end())
            continue;
        for (const Shard& shard : shardings[i].ranks) {
            std::vector<AttentionBlock> blocks = attentionBlocks(shard);
            entry->attentionForward.push_back(cost.attention(blocks, Direction::Forward));
            entry->attentionBackward.push_back(cost.attention(blocks, Direction::Backward));
            double pairs = 0;
            for (const AttentionBlock& block : blocks)
                pairs += static_cast<double>(attentionPairs(block));
            entry->attentionPairs.push_back(pairs);
        }
        if (isNeedBased(cost) && cost.layout().cp > 1)
            entry->exchangedBytes = ballast::exchangedBytes(neededTokens(shardings[i]), cost);
    }
    return work;
}

}  // namespace ballast
