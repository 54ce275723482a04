// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/gradient_sync.h"

#include "kernels/adamw.h"

namespace ballast::backend {

namespace {

/// Sum of squares of the gradients that this rank answers for, so that the sum over the world has each
/// parameter once: replicas over dp and cp, tp-replicated norms and a tied embedding's copy do not count.
double ownSquares(const RankContext& context, const Parameters& parameters) {
    const Coordinate at = context.groups.coordinate();
    if (at.dp != 0 || at.cp != 0)
        return 0;
    double squares = 0;
    for (std::size_t tensor = 0; tensor < parameters.tensors().size(); ++tensor) {
        const HeldTensor& held = parameters.tensors()[tensor];
        if (held.isCopy || (held.spec.split == TensorSplit::Whole && at.tp != 0))
            continue;
        squares += kernels::sumOfSquares(parameters.gradients(static_cast<int>(tensor)));
    }
    return squares;
}

}  // namespace

StepSums synchroniseGradients(const RankContext& context, const Parameters& parameters, double localLossSum) {
    StepSums sums;
    // Each tp rank has the loss of all targets of its slice: one of them speaks for the group.
    sums.lossSum = context.groups.coordinate().tp == 0 ? localLossSum : 0.0;
    bool squaresKnown = false;
    auto takeSquares = [&] {
        ComputeScope scope(context.spans, SpanKind::Optimizer, {});
        sums.squaredGradientNorm = ownSquares(context, parameters);
        squaresKnown = true;
    };
    const Coordinate at = context.groups.coordinate();
    for (const CollectiveCall& call : stepCollectives(context.cost, at.pp, at.tp)) {
        std::span<float> gradients;
        double* number = nullptr;
        switch (call.purpose) {
            case CollectivePurpose::GradientSum:
                gradients = parameters.allGradients();
                break;
            case CollectivePurpose::TiedEmbeddingSum:
                gradients = parameters.gradients(parameters.embedding());
                break;
            case CollectivePurpose::NormSum:
                takeSquares();
                number = &sums.squaredGradientNorm;
                break;
            case CollectivePurpose::LossSum:
                number = &sums.lossSum;
                break;
            default:
                continue;
        }
        runCollective(context, call, {}, [&](Communicator& group) {
            if (number != nullptr)
                group.allReduce(std::span(number, 1), Reduction::Sum);
            else
                group.allReduce(gradients, Reduction::Sum);
        });
    }
    if (!squaresKnown)
        takeSquares();
    return sums;
}

}  // namespace ballast::backend
