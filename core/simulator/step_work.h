// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/cost_model.h"
#include "core/packing/packer.h"
#include "core/sharding/shard.h"

namespace ballast {

/// One micro-batch as the simulator takes it.
struct MicroBatchWork {
    int index = 0;
    std::int64_t tokens = 0;                ///< over all cp ranks
    std::vector<std::int64_t> rankTokens;   ///< by cp rank
    std::vector<Seconds> attentionForward;  ///< by cp rank, one layer
    std::vector<Seconds> attentionBackward;
    std::vector<double> attentionPairs;  ///< by cp rank
    /// Keys and values of one layer that cp rank `from` sends to `to`, [from * cp + to], for the need-based
    /// exchange; empty: all are gathered.
    std::vector<std::int64_t> exchangedBytes;
    std::int64_t heaviestDocument = -1;  ///< blamed when this micro-batch is late
};

/// What one step asks of every rank: the non-empty micro-batches of each dp rank in pipeline order.
struct StepWork {
    std::int64_t step = 0;
    std::vector<std::vector<MicroBatchWork>> pipelines;  ///< by dp rank
    std::int64_t tokens = 0;
    bool freeTransfers = false;        ///< what if the network cost nothing
    bool messagesAlwaysThere = false;  ///< what if no stage ever waited for another

    std::int64_t microBatches() const;
    /// Query-key pairs of the step, all cp ranks.
    double attentionPairs() const;
};

/// The same with tokens alone, no seconds: enough for stepPeakMemory.
StepWork stepTokens(std::int64_t step, const std::vector<MicroBatch>& microBatches,
                    const std::vector<Sharding>& shardings, const Layout& layout);

/// microBatches and shardings run in parallel (same order, one Sharding each).
StepWork stepWork(std::int64_t step, const std::vector<MicroBatch>& microBatches,
                  const std::vector<Sharding>& shardings, const CostModel& cost);

}  // namespace ballast
