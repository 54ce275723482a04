// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan.h"

namespace ballast {

std::int64_t PlanStep::tokens() const {
    std::int64_t sum = 0;
    for (const PlannedMicroBatch& planned : microBatches)
        sum += planned.batch.tokens;
    return sum;
}

std::int64_t PlanStep::targets() const {
    std::int64_t sum = 0;
    for (const PlannedMicroBatch& planned : microBatches)
        for (const Piece& piece : planned.batch.pieces)
            sum += piece.length() - 1;
    return sum;
}

}  // namespace ballast
