// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// How many documents have each length, exactly: what every statistic of lengths needs, in memory that grows
/// with the number of different lengths and not with the documents.
class LengthCounts {
  public:
    struct Count {
        std::int64_t length = 0;
        std::int64_t documents = 0;
    };

    /// Counts all documents of a source (of a distribution: one sample) on every core.
    explicit LengthCounts(const LengthSource& source);

    std::int64_t documents() const { return documents_; }
    /// Ascending by length, none of them zero times.
    const std::vector<Count>& counts() const { return counts_; }

  private:
    std::int64_t documents_ = 0;
    std::vector<Count> counts_;
};

}  // namespace ballast
