// SPDX-License-Identifier: Apache-2.0
#include "tests/core/simulator/given_work.h"

#include "core/sharding/sharder.h"
#include "tests/support/builders.h"

namespace ballast::testing {

CostModel costOf(const JobShape& shape) {
    Scenario scenario = tinyScenario();
    scenario.layout = shape.layout;
    scenario.cost = {};
    if (!shape.stages.empty())
        scenario.schedule.stages = shape.stages;
    ModelSpec model = tinyModel();
    model.layers = shape.layers;
    model.tiedEmbeddings = shape.tiedEmbeddings;
    ClusterSpec cluster = tinyCluster();
    cluster.gpuSpeed = shape.gpuSpeed;
    return CostModel(scenario, model, cluster);
}

MicroBatchWork attentionOnly(int index, const std::vector<double>& forward,
                             const std::vector<double>& backward, std::int64_t gathered,
                             std::int64_t document) {
    MicroBatchWork work;
    work.index = index;
    work.tokens = gathered;
    work.rankTokens.assign(forward.size(), 0);
    work.attentionPairs.assign(forward.size(), 0);
    for (double seconds : forward)
        work.attentionForward.push_back(Seconds(seconds));
    for (double seconds : backward)
        work.attentionBackward.push_back(Seconds(seconds));
    work.heaviestDocument = document;
    return work;
}

StepWork workOf(std::vector<std::vector<MicroBatchWork>> pipelines) {
    StepWork work;
    work.pipelines = std::move(pipelines);
    return work;
}

MicroBatch batchOf(int dp, int index, const std::vector<std::int64_t>& lengths, std::int64_t firstDocument) {
    MicroBatch batch;
    batch.dp = dp;
    batch.index = index;
    for (std::int64_t length : lengths) {
        batch.pieces.push_back({firstDocument, 0, length, 0, firstDocument});
        ++firstDocument;
        batch.tokens += length;
    }
    return batch;
}

StepWork randomWork(std::uint64_t seed, const CostModel& cost, int microBatches, bool holes,
                    std::string_view strategy) {
    Random random(seed);
    std::unique_ptr<Sharder> sharder = makeSharder(strategy, cost.layout().cp, cost);
    std::vector<MicroBatch> batches;
    std::vector<Sharding> shardings;
    std::int64_t document = 0;
    for (int dp = 0; dp < cost.layout().dp; ++dp)
        for (int index = 0; index < microBatches; ++index) {
            std::vector<std::int64_t> lengths;
            if (!holes || random.below(3) > 0)
                for (std::uint64_t i = 0; i <= random.below(6); ++i)
                    lengths.push_back(
                        1 + static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 3000 : 200)));
            batches.push_back(batchOf(dp, index, lengths, document));
            document += static_cast<std::int64_t>(lengths.size());
            shardings.push_back(sharder->shard(batches.back().pieces));
        }
    return stepWork(0, batches, shardings, cost);
}

}  // namespace ballast::testing
