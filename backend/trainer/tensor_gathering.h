// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "backend/model/parameters.h"
#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// Brings the model's tensors together on world rank 0, one at a time, whatever the layout. Every rank calls
/// it; `take` runs on rank 0 alone, with each tensor whole and row-major, in the order of tensorSpecs(). What
/// `take` throws is thrown once all tensors are through, so that no rank is left sending.
using TakeTensor = std::function<void(const TensorSpec&, std::span<const float>)>;
void gatherTensors(const RankContext& context, const Parameters& parameters, Parameters::Kind kind,
                   const TakeTensor& take);

/// The same into a safetensors file. Throws Error (WorkFailed) on rank 0 where it cannot be written.
void exportTensors(const RankContext& context, const Parameters& parameters, Parameters::Kind kind,
                   const std::filesystem::path& file);

}  // namespace ballast::backend
