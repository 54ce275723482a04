// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/cost/memory_cost.h"
#include "core/schedule/pipeline_schedule.h"
#include "core/simulator/simulator.h"

namespace ballast {
namespace {

constexpr double kBytesPerGiB = 1024.0 * 1024.0 * 1024.0;

}  // namespace

PeakMemory stepPeakMemory(const StepWork& work, const CostModel& cost) {
    const Layout& layout = cost.layout();
    PeakMemory peak;
    peak.limitGib = cost.cluster().memoryGiB;
    for (int dp = 0; dp < layout.dp; ++dp) {
        const auto& batches = work.pipelines.at(static_cast<std::size_t>(dp));
        std::vector<int> places;
        std::int64_t longest = 0;
        for (const MicroBatchWork& batch : batches) {
            places.push_back(static_cast<int>(places.size()));
            longest = std::max(longest, batch.tokens);
        }
        std::vector<ActionList> lists = pipelineActions("1f1b", layout.pp, places);
        for (int cp = 0; cp < layout.cp; ++cp) {
            std::vector<std::int64_t> tokens;
            for (const MicroBatchWork& batch : batches)
                tokens.push_back(batch.rankTokens[static_cast<std::size_t>(cp)]);
            std::int64_t largest = tokens.empty() ? 0 : *std::max_element(tokens.begin(), tokens.end());
            for (int pp = 0; pp < layout.pp; ++pp) {
                InFlightPeak inFlight = inFlightPeak(lists[static_cast<std::size_t>(pp)], tokens);
                Bytes bytes = stageMemory(cost, pp, inFlight.tokens, largest, longest).total();
                double gib = static_cast<double>(bytes.value()) / kBytesPerGiB;
                if (gib <= peak.gib)
                    continue;
                peak.gib = gib;
                peak.rank = layout.rankOf({0, cp, dp, pp});
                peak.stage = pp;
                peak.dp = dp;
                peak.microBatch = inFlight.microBatch < 0
                                      ? -1
                                      : batches[static_cast<std::size_t>(inFlight.microBatch)].index;
            }
        }
    }
    return peak;
}

}  // namespace ballast
