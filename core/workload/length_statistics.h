// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Documents of from <= length < to (tokens), with their share of the work; attention work = query-key pairs.
struct LengthBucket {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t documents = 0;
    std::int64_t tokens = 0;
    double attentionWork = 0;
};

/// Statistics of document lengths, planner.md section 2. All lengths in tokens.
struct LengthStatistics {
    std::int64_t documents = 0;
    std::int64_t empty = 0;
    std::int64_t tokens = 0;
    double mean = 0;
    double tokenWeightedMean = 0;
    std::vector<std::pair<double, std::int64_t>> percentiles;  ///< 1 5 25 50 75 90 95 99 99.9
    std::int64_t maximum = 0;
    std::int64_t overlongDocuments = 0;  ///< longer than the window
    std::int64_t overlongTokens = 0;     ///< all tokens of those documents
    double attentionWork = 0;            ///< pairs of whole documents
    std::vector<LengthBucket> buckets;   ///< powers of two, ascending, empty ones left out
};

LengthStatistics lengthStatistics(const LengthSource& source, std::int64_t window);

/// Share of all attention work held by the longest documents: the ceil(documentShare * documents) longest;
/// 0..1.
double attentionShareOfLongest(const LengthSource& source, double documentShare);

/// Sentences a person would say of these lengths ("documents over 64K: 0.3 % of documents, 19 % of tokens, 62
/// % of attention work").
std::vector<std::string> describeLengths(const LengthStatistics& statistics, std::int64_t window);

}  // namespace ballast
