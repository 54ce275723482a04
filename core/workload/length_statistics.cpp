// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ranges>

#include "core/workload/length_counts.h"

namespace ballast {

namespace {

constexpr std::array kPercents = {1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9};

/// Query-key pairs of a document under the causal mask; a double, since a billion-token document has more
/// than 2^53.
double pairsOf(std::int64_t length) {
    const auto tokens = static_cast<double>(length);
    return tokens * (tokens + 1) / 2;
}

/// Nearest rank: the least length that at least `percent` of the documents do not exceed.
std::vector<std::pair<double, std::int64_t>> percentilesOf(const LengthCounts& counts) {
    std::vector<std::pair<double, std::int64_t>> percentiles;
    auto at = counts.counts().begin();
    std::int64_t upToHere = at->documents;
    for (const double percent : kPercents) {
        const auto rank = static_cast<std::int64_t>(
            std::max(1.0, std::ceil(percent * static_cast<double>(counts.documents()) / 100)));
        while (upToHere < rank)
            upToHere += (++at)->documents;
        percentiles.emplace_back(percent, at->length);
    }
    return percentiles;
}

/// 0 for an empty document, else 1 + floor(log2(length)).
std::size_t bucketOf(std::int64_t length) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)));
}

std::string inTokens(std::int64_t tokens) {
    if (tokens >= 1024 && tokens % 1024 == 0)
        return fmt::format("{}K", tokens / 1024);
    return fmt::format("{}", tokens);
}

double percentOf(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

}  // namespace

LengthStatistics lengthStatistics(const LengthSource& source, std::int64_t window) {
    const LengthCounts counts(source);
    LengthStatistics statistics;
    statistics.documents = counts.documents();
    std::array<LengthBucket, 65> buckets;
    double squares = 0;
    for (const auto& [length, documents] : counts.counts()) {
        const auto times = static_cast<double>(documents);
        LengthBucket& bucket = buckets[bucketOf(length)];
        bucket.documents += documents;
        bucket.tokens += length * documents;
        bucket.attentionWork += times * pairsOf(length);
        squares += times * static_cast<double>(length) * static_cast<double>(length);
        statistics.tokens += length * documents;
        statistics.maximum = std::max(statistics.maximum, length);
        statistics.empty += length == 0 ? documents : 0;
        if (length > window) {
            statistics.overlongDocuments += documents;
            statistics.overlongTokens += length * documents;
        }
    }
    for (std::size_t index = 0; index < buckets.size(); ++index) {
        LengthBucket& bucket = buckets[index];
        if (bucket.documents == 0)
            continue;
        bucket.from = index == 0 ? 0 : std::int64_t{1} << (index - 1);
        bucket.to = std::int64_t{1} << index;
        statistics.attentionWork += bucket.attentionWork;
        statistics.buckets.push_back(bucket);
    }
    if (statistics.documents > 0) {
        statistics.mean = static_cast<double>(statistics.tokens) / static_cast<double>(statistics.documents);
        statistics.percentiles = percentilesOf(counts);
    }
    if (statistics.tokens > 0)
        statistics.tokenWeightedMean = squares / static_cast<double>(statistics.tokens);
    return statistics;
}

double attentionShareOfLongest(const LengthSource& source, double documentShare) {
    const LengthCounts counts(source);
    const double wanted = std::ceil(documentShare * static_cast<double>(counts.documents()));
    auto left = static_cast<std::int64_t>(std::clamp(wanted, 0.0, static_cast<double>(counts.documents())));
    double longest = 0;
    double all = 0;
    for (const auto& [length, documents] : counts.counts() | std::views::reverse) {
        const std::int64_t taken = std::min(left, documents);
        left -= taken;
        longest += static_cast<double>(taken) * pairsOf(length);
        all += static_cast<double>(documents) * pairsOf(length);
    }
    return all > 0 ? longest / all : 0;
}

std::vector<std::string> describeLengths(const LengthStatistics& statistics, std::int64_t window) {
    if (statistics.documents == 0)
        return {"no documents"};
    std::vector<std::string> sentences;
    const auto documents = static_cast<double>(statistics.documents);
    const auto tokens = static_cast<double>(statistics.tokens);
    const auto halfWindow = static_cast<std::uint64_t>(std::max<std::int64_t>(window / 2, 1));
    const auto border = static_cast<std::int64_t>(std::bit_ceil(halfWindow));
    LengthBucket longOnes;
    for (const LengthBucket& bucket : statistics.buckets) {
        if (bucket.from < border)
            continue;
        longOnes.documents += bucket.documents;
        longOnes.tokens += bucket.tokens;
        longOnes.attentionWork += bucket.attentionWork;
    }
    sentences.push_back(
        fmt::format("documents of {} tokens and more: {:.2g} % of documents, {:.3g} % of tokens, {:.3g} % of "
                    "attention work",
                    inTokens(border), percentOf(static_cast<double>(longOnes.documents), documents),
                    percentOf(static_cast<double>(longOnes.tokens), tokens),
                    percentOf(longOnes.attentionWork, statistics.attentionWork)));
    if (statistics.overlongDocuments > 0)
        sentences.push_back(fmt::format(
            "longer than the window of {} tokens: {} documents ({:.2g} %), which hold {:.3g} % of the tokens",
            inTokens(window), statistics.overlongDocuments,
            percentOf(static_cast<double>(statistics.overlongDocuments), documents),
            percentOf(static_cast<double>(statistics.overlongTokens), tokens)));
    if (statistics.empty > 0)
        sentences.push_back(fmt::format("{} empty documents, counted and skipped", statistics.empty));
    return sentences;
}

}  // namespace ballast
