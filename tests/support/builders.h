// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/cost/cost_model.h"
#include "core/job/cluster_spec.h"
#include "core/job/model_spec.h"
#include "core/job/scenario.h"

namespace ballast::testing {

/// Meant for `tinyModel` on `tinyCluster`: window 1024, layout (1, 2, 1, 2), 2 micro-batches, quadratic cost
/// with crossover 4096 tokens.
Scenario tinyScenario();

/// 4 layers, hidden 64, 4 heads, 2 kv heads, head size 16, feed-forward 128, vocabulary 256.
ModelSpec tinyModel();

/// Made-up round figures, one node of 64 ranks and a network: nothing measured.
ClusterSpec tinyCluster();

/// Cost of `tinyScenario` with work d*B + d*d.
CostModel quadraticCost(std::int64_t crossoverTokens);

/// Cost of `tinyScenario` under another layout, tile model.
CostModel tileCost(const Layout& layout);

}  // namespace ballast::testing
