// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/workload/document_stream.h"

namespace ballast::testing {

/// The `wlb` rules as planner.md section 5 words them, for the quadratic cost in integers, with scans instead
/// of trees and lists instead of queues; O(micro-batches * pieces). Dealing is left out.
class PlainWorkloadPacking {
  public:
    using MicroBatches = std::vector<std::vector<Piece>>;

    PlainWorkloadPacking(int microBatches, std::int64_t maxTokens, std::int64_t crossover,
                         std::vector<std::int64_t> thresholds)
        : count_(static_cast<std::size_t>(microBatches)),
          maxTokens_(maxTokens),
          crossover_(crossover),
          thresholds_(std::move(thresholds)),
          queued_(thresholds_.size()) {}

    MicroBatches pack(const std::vector<Piece>& batch);
    /// One step of the drain; call while anything waits.
    MicroBatches drain();
    bool anythingWaits() const;

  private:
    MicroBatches place(std::vector<Piece> fresh);

    std::size_t count_;
    std::int64_t maxTokens_;
    std::int64_t crossover_;
    std::vector<std::int64_t> thresholds_;
    std::vector<std::vector<Piece>> queued_;
    std::vector<Piece> remained_;
};

}  // namespace ballast::testing
