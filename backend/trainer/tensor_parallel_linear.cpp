// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/tensor_parallel_linear.h"

#include "kernels/matmul.h"

namespace ballast::backend {

void linearForward(const LinearShape& shape, std::span<const float> x, std::span<const float> weight,
                   std::span<float> y) {
    kernels::matmul({.m = shape.tokens, .n = shape.out, .k = shape.in, .transposeB = true}, x, weight, y);
}

void linearInputGradient(const LinearShape& shape, std::span<const float> yGradient,
                         std::span<const float> weight, std::span<float> xGradient, bool accumulate) {
    kernels::matmul({.m = shape.tokens, .n = shape.in, .k = shape.out, .accumulate = accumulate}, yGradient,
                    weight, xGradient);
}

void linearWeightGradient(const LinearShape& shape, std::span<const float> yGradient,
                          std::span<const float> x, std::span<float> weightGradient) {
    kernels::matmul(
        {.m = shape.out, .n = shape.in, .k = shape.tokens, .transposeA = true, .accumulate = true}, yGradient,
        x, weightGradient);
}

void tensorSum(const RankContext& context, const CollectiveCall& call, const SpanLabel& label,
               std::span<float> values, Reduction reduction) {
    runCollective(context, call, label, [&](Communicator& group) { group.allReduce(values, reduction); });
}

}  // namespace ballast::backend
