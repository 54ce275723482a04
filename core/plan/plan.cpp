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

PackedStep packedStep(const PlanStep& step) {
    PackedStep packed{step.step, step.kind, {}, step.carried, step.packMilliseconds};
    for (const PlannedMicroBatch& planned : step.microBatches)
        packed.microBatches.push_back(planned.batch);
    return packed;
}

StepWork stepWork(const PlanStep& step, const CostModel& cost) {
    std::vector<MicroBatch> microBatches;
    std::vector<Sharding> shardings;
    for (const PlannedMicroBatch& planned : step.microBatches) {
        microBatches.push_back(planned.batch);
        shardings.push_back(planned.sharding);
    }
    return stepWork(step.step, microBatches, shardings, cost);
}

}  // namespace ballast
