// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace ballast {

namespace {

constexpr std::array kPercents = {1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9};

/// Query-key pairs of a document under the causal mask; a double, since a billion-token document has more
/// than 2^53.
double pairsOf(std::int64_t length) {
    const auto tokens = static_cast<double>(length);
    return tokens * (tokens + 1) / 2;
}

std::vector<std::int64_t> allLengths(const LengthSource& source) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(source.sampleDocuments()));
    for (std::size_t document = 0; document < lengths.size(); ++document)
        lengths[document] = source.length(static_cast<std::int64_t>(document));
    return lengths;
}

/// Nearest rank: the least length that at least `percent` of the documents do not exceed. Reorders `lengths`.
std::vector<std::pair<double, std::int64_t>> percentilesOf(std::vector<std::int64_t>& lengths) {
    std::vector<std::pair<double, std::int64_t>> percentiles;
    auto sortedUpTo = lengths.begin();
    for (const double percent : kPercents) {
        const double rank = std::ceil(percent * static_cast<double>(lengths.size()) / 100);
        const auto place =
            lengths.begin() + std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank) - 1, 0);
        std::nth_element(sortedUpTo, place, lengths.end());
        percentiles.emplace_back(percent, *place);
        sortedUpTo = place;
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
    LengthStatistics statistics;
    std::vector<std::int64_t> lengths = allLengths(source);
    statistics.documents = static_cast<std::int64_t>(lengths.size());
    std::array<LengthBucket, 65> buckets;
    double squares = 0;
    for (const std::int64_t length : lengths) {
        LengthBucket& bucket = buckets[bucketOf(length)];
        ++bucket.documents;
        bucket.tokens += length;
        bucket.attentionWork += pairsOf(length);
        squares += static_cast<double>(length) * static_cast<double>(length);
        statistics.tokens += length;
        statistics.maximum = std::max(statistics.maximum, length);
        statistics.empty += length == 0 ? 1 : 0;
        if (length > window) {
            ++statistics.overlongDocuments;
            statistics.overlongTokens += length;
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
        statistics.percentiles = percentilesOf(lengths);
    }
    if (statistics.tokens > 0)
        statistics.tokenWeightedMean = squares / static_cast<double>(statistics.tokens);
    return statistics;
}

double attentionShareOfLongest(const LengthSource& source, double documentShare) {
    std::vector<std::int64_t> lengths = allLengths(source);
    const double wanted = std::ceil(documentShare * static_cast<double>(lengths.size()));
    const auto count = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(wanted), 0,
                                                  static_cast<std::ptrdiff_t>(lengths.size()));
    std::nth_element(lengths.begin(), lengths.begin() + count, lengths.end(), std::greater<>());
    double longest = 0;
    double all = 0;
    for (std::ptrdiff_t index = 0; index < static_cast<std::ptrdiff_t>(lengths.size()); ++index) {
        const double pairs = pairsOf(lengths[static_cast<std::size_t>(index)]);
        all += pairs;
        longest += index < count ? pairs : 0;
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
