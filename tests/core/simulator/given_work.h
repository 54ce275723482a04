// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/simulator/simulator.h"

namespace ballast::testing {

struct JobShape {
    Layout layout;
    std::int64_t layers = 4;
    std::vector<std::int64_t> stages = {};  ///< empty: even
    std::vector<double> gpuSpeed = {};
    bool tiedEmbeddings = false;
};
/// The tiny model on the tiny cluster under a shape.
CostModel costOf(const JobShape& shape);

/// A micro-batch without tokens whose only work is attention of these seconds a layer, by cp rank: what times
/// it gives can be worked out by hand. `gathered` tokens size its K and V collectives.
MicroBatchWork attentionOnly(int index, const std::vector<double>& forward,
                             const std::vector<double>& backward, std::int64_t gathered = 0,
                             std::int64_t document = -1);
StepWork workOf(std::vector<std::vector<MicroBatchWork>> pipelines);

/// Micro-batches of random documents, sharded by `strategy`, some empty where `holes`; deterministic.
StepWork randomWork(std::uint64_t seed, const CostModel& cost, int microBatches, bool holes,
                    std::string_view strategy = "per-document");
/// One micro-batch of documents of these lengths.
MicroBatch batchOf(int dp, int index, const std::vector<std::int64_t>& lengths,
                   std::int64_t firstDocument = 0);

}  // namespace ballast::testing
