// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/reproduce/published_table.h"

namespace ballast {

/// WLB-LLM (OSDI 2025); `steps` global batches a cell.
PublishedTable reproducePackingBalance(std::int64_t steps);      ///< Table 2
PublishedTable reproduceEndToEndSpeedUp(std::int64_t steps);     ///< Figure 12
PublishedTable reproduceBreakdown(std::int64_t steps);           ///< Figure 13
PublishedTable reproduceWindowSweep(std::int64_t steps);         ///< Figure 14
PublishedTable reproduceContextParallelism(std::int64_t steps);  ///< Figure 15

}  // namespace ballast
