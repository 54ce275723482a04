// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/trainer/needed_rows.h"
#include "core/plan/plan.h"
#include "core/sharding/key_value_exchange.h"
#include "core/workload/token_source.h"
#include "kernels/attention.h"

namespace ballast::backend {

/// One micro-batch as one rank works on it, made from the plan before the step starts. "Packed" rows are all
/// tokens of the micro-batch in packed order, so that the keys of a piece lie together; "local" rows are this
/// rank's tokens in the order of its slices.
struct MicroBatchInput {
    std::int64_t step = 0;
    int index = 0;                             ///< place in the pipeline's order
    std::int64_t tokens = 0;                   ///< packed rows
    std::int64_t localTokens = 0;              ///< local rows of this rank
    std::vector<std::int64_t> rankTokens;      ///< local rows, by cp rank
    std::vector<std::vector<RowCopy>> copies;  ///< by cp rank
    bool localIsPacked = false;                ///< one cp rank whose slices are in packed order
    std::optional<NeededRows> needed;          ///< of the need-based exchange; absent: all are gathered
    ExchangedTokens exchanged;                 ///< of the need-based exchange, all ranks
    std::vector<kernels::AttentionBlock> blocks;
    std::vector<std::int64_t> positions;  ///< by local row, inside the piece
    std::vector<std::int64_t> ids;        ///< by local row; empty where the stage needs none
    std::vector<std::int64_t> targets;    ///< by local row, kernels::kNoTarget where there is none; ditto
    std::int64_t heaviestDocument = -1;   ///< of the longest piece
};

/// What a rank needs of a micro-batch.
struct InputNeeds {
    int cpRank = 0;
    bool ids = false;       ///< first stage
    bool targets = false;   ///< last stage
    bool exchange = false;  ///< keys and values travel need-based
};

/// Throws Error (BadInput) where the plan's slices and pieces do not fit together, or the tokens cannot be
/// read.
MicroBatchInput makeMicroBatchInput(std::int64_t step, const PlannedMicroBatch& planned,
                                    const InputNeeds& needs, const TokenSource& tokens);

}  // namespace ballast::backend
