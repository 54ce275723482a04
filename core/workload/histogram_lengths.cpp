// SPDX-License-Identifier: Apache-2.0
#include "core/workload/histogram_lengths.h"

#include <algorithm>
#include <utility>

namespace ballast {

HistogramLengths::HistogramLengths(std::string description, const std::vector<Row>& rows)
    : description_(std::move(description)) {
    std::int64_t end = 0;
    for (const Row& row : rows) {
        lengths_.push_back(row.length);
        ends_.push_back(end += row.count);
    }
}

std::int64_t HistogramLengths::length(std::int64_t document) const {
    const auto row = std::upper_bound(ends_.begin(), ends_.end(), document) - ends_.begin();
    return lengths_[static_cast<std::size_t>(row)];
}

std::vector<std::string> HistogramLengths::notices() const {
    if (sampleDocuments() == 0)
        return {description_ + ": no documents"};
    return {};
}

}  // namespace ballast
