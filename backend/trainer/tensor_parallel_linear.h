// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// The products of a linear layer y = x W^T with W [out, in] as Hugging Face stores it, over one rank's rows
/// or columns of W. Column-parallel layers split `out` and sum the input's gradient over tp; row-parallel
/// ones split `in` and sum the output: that sum is a collective of the layer's list (step_collectives.h) and
/// not done here. Source: Megatron-LM (Shoeybi et al. 2019), section 3.
struct LinearShape {
    std::int64_t tokens = 0;
    std::int64_t in = 0;
    std::int64_t out = 0;

    /// Of one of the three products.
    double flops() const {
        return 2.0 * static_cast<double>(tokens) * static_cast<double>(in) * static_cast<double>(out);
    }
};

/// y = x W^T
void linearForward(const LinearShape& shape, std::span<const float> x, std::span<const float> weight,
                   std::span<float> y);
/// dx = dy W, or added to dx.
void linearInputGradient(const LinearShape& shape, std::span<const float> yGradient,
                         std::span<const float> weight, std::span<float> xGradient, bool accumulate);
/// dW += dy^T x
void linearWeightGradient(const LinearShape& shape, std::span<const float> yGradient,
                          std::span<const float> x, std::span<float> weightGradient);

/// The tp sum of `values`, a collective of a layer's, the embedding's or the head's list.
void tensorSum(const RankContext& context, const CollectiveCall& call, const SpanLabel& label,
               std::span<float> values, Reduction reduction = Reduction::Sum);

}  // namespace ballast::backend
