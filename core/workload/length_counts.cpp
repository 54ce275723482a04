// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_counts.h"

#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <unordered_map>

namespace ballast {
namespace {

/// Lengths below this have a counter each, 2 MB in all; longer ones are rare.
constexpr std::size_t kShort = std::size_t{1} << 18;
constexpr std::int64_t kBlock = 4096;

/// Counts of a part of the documents.
struct PartialCounts {
    std::vector<std::int64_t> shortOnes = std::vector<std::int64_t>(kShort);
    std::unordered_map<std::int64_t, std::int64_t> longOnes;

    void add(const LengthSource& source, std::int64_t begin, std::int64_t end) {
        std::array<std::int64_t, kBlock> block;
        for (std::int64_t first = begin; first < end; first += kBlock) {
            const std::span lengths(block.data(), static_cast<std::size_t>(std::min(kBlock, end - first)));
            source.copyLengths(first, lengths);
            for (const std::int64_t length : lengths) {
                if (static_cast<std::size_t>(length) < kShort)
                    ++shortOnes[static_cast<std::size_t>(length)];
                else
                    ++longOnes[length];
            }
        }
    }
    void add(const PartialCounts& other) {
        for (std::size_t length = 0; length < kShort; ++length)
            shortOnes[length] += other.shortOnes[length];
        for (const auto& [length, documents] : other.longOnes)
            longOnes[length] += documents;
    }
};

PartialCounts countAll(const LengthSource& source, std::int64_t documents) {
    constexpr std::int64_t kDocumentsWorthAThread = 1 << 20;
    const auto threads = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const std::int64_t parts = std::clamp<std::int64_t>(documents / kDocumentsWorthAThread, 1, threads);
    std::vector<PartialCounts> counted(static_cast<std::size_t>(parts));
    {
        std::vector<std::jthread> workers;
        for (std::int64_t part = 0; part < parts; ++part)
            workers.emplace_back([&, part] {
                counted[static_cast<std::size_t>(part)].add(
                    source, documents / parts * part,
                    part + 1 == parts ? documents : documents / parts * (part + 1));
            });
    }
    for (std::size_t part = 1; part < counted.size(); ++part)
        counted.front().add(counted[part]);
    return std::move(counted.front());
}

}  // namespace

LengthCounts::LengthCounts(const LengthSource& source) : documents_(source.sampleDocuments()) {
    const PartialCounts all = countAll(source, documents_);
    for (std::size_t length = 0; length < kShort; ++length)
        if (all.shortOnes[length] > 0)
            counts_.push_back({static_cast<std::int64_t>(length), all.shortOnes[length]});
    const auto firstLong = static_cast<std::ptrdiff_t>(counts_.size());
    for (const auto& [length, documents] : all.longOnes)
        counts_.push_back({length, documents});
    std::ranges::sort(counts_.begin() + firstLong, counts_.end(), {}, &Count::length);
}

}  // namespace ballast
