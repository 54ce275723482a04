// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/job/model_spec.h"

namespace ballast::backend::testing {

/// Tensors by Hugging Face name, row-major.
using Tensors = std::map<std::string, std::vector<double>>;

struct ReferenceResult {
    double lossSum = 0;
    std::int64_t targets = 0;
    Tensors gradients;  ///< of lossSum
};

/// The obvious Llama decoder in double: one piece at a time, plain causal attention over a full matrix of
/// scores, every gradient written out by hand. Slow, and shares no code with the trainer. Adds one piece's
/// loss and gradients to `result`.
void addReferencePiece(const ModelSpec& model, const Tensors& weights, const std::vector<std::int64_t>& ids,
                       ReferenceResult& result);

}  // namespace ballast::backend::testing
