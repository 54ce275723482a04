// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Documents given as a histogram: rows (length, count). Document ids go through the rows in order; a billion
/// documents need no more memory than the rows.
class HistogramLengths : public LengthSource {
  public:
    struct Row {
        std::int64_t length = 0;
        std::int64_t count = 0;
    };
    HistogramLengths(std::string description, const std::vector<Row>& rows);

    std::optional<std::int64_t> documents() const override { return sampleDocuments(); }
    std::int64_t sampleDocuments() const override { return ends_.empty() ? 0 : ends_.back(); }
    std::int64_t length(std::int64_t document) const override;
    std::vector<std::string> notices() const override;
    std::string description() const override { return description_; }

  private:
    std::string description_;
    std::vector<std::int64_t> lengths_;
    std::vector<std::int64_t> ends_;  ///< ids after each row
};

}  // namespace ballast
