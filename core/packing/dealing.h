// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/packing/packer.h"

namespace ballast {

/// Decides which dp rank gets which micro-batch and its place in that pipeline; fills dp and index and sorts
/// by them.
///
/// Heaviest first (ties: as listed), each to the dp rank of least sum that has fewer than
/// microBatchesPerRank, ties to the lowest rank. In each pipeline the lightest goes first, so that the
/// warm-up is short, the others follow heaviest first; empty ones, which no rank runs, stand last.
///
/// microBatches  dp * microBatchesPerRank of them, with their work
/// source        planner.md section 5, Dealing
void dealMicroBatches(std::vector<MicroBatch>& microBatches, int dp, int microBatchesPerRank);

}  // namespace ballast
