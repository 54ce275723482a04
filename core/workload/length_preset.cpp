// SPDX-License-Identifier: Apache-2.0
#include "core/workload/length_preset.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/job/presets.h"

namespace ballast {

namespace {

constexpr std::uint64_t kLengthsPurpose = 0x6C656E67746873ULL;  // "lengths": apart from the seed's other uses
constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

/// Place of `index` in a shuffle of [0, count) that needs no table: a Feistel network over the next power of
/// four, walked until it lands inside (Black, Rogaway: "Ciphers with arbitrary finite domains", CT-RSA 2002).
std::uint64_t shuffledIndex(std::uint64_t index, std::uint64_t count, std::uint64_t seed) {
    constexpr std::uint64_t kRounds = 4;
    const auto halfBits = std::max<std::uint64_t>((std::bit_width(count - 1) + 1) / 2, 1);
    const std::uint64_t mask = (std::uint64_t{1} << halfBits) - 1;
    do {
        std::uint64_t left = index >> halfBits;
        std::uint64_t right = index & mask;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            const std::uint64_t mixed = Random::stream(seed + round, right).next() & mask;
            left = std::exchange(right, left ^ mixed);
        }
        index = left << halfBits | right;
    } while (index >= count);
    return index;
}

[[noreturn]] void refuse(std::string_view place, std::string_view key, std::string_view expected) {
    throw Error(fmt::format("{}: {}: expected {}", place, key, expected));
}

}  // namespace

LengthPreset::LengthPreset(std::string_view json, std::string_view place, std::uint64_t seed)
    : seed_(Random::stream(seed, kLengthsPurpose).next()) {
    const auto file = nlohmann::json::parse(json, nullptr, false);
    if (!file.is_object())
        throw Error(fmt::format("{}: expected a JSON object", place));
    try {
        name_ = file.at("name").get<std::string>();
        source_ = file.at("source").get<std::string>();
        binWidth_ = file.at("bin_width").get<double>();
        shareAtEnd_ = file.at("last_bin_share_at_end").get<double>();
        const auto& mean = file.at("first_bin_exponential_mean");
        exponentialMean_ = mean.is_null() ? 0 : mean.get<double>();
        std::int64_t total = 0;
        for (const auto count : file.at("counts").get<std::vector<std::int64_t>>()) {
            if (count < 0 || count > kMaxCount - total)
                refuse(place, "counts", "whole numbers of 0 or more whose sum is at most 2^40");
            cumulativeCounts_.push_back(total += count);
        }
    } catch (const nlohmann::json::exception& problem) {
        throw Error(fmt::format("{}: {}", place, problem.what()));
    }
    if (cumulativeCounts_.empty() || cumulativeCounts_.back() == 0)
        refuse(place, "counts", "at least one document");
    if (!(binWidth_ >= 1) || binWidth_ * static_cast<double>(cumulativeCounts_.size()) > 1e15)
        refuse(place, "bin_width", "1 or more tokens");
    if (!(exponentialMean_ >= 0))
        refuse(place, "first_bin_exponential_mean", "null or a positive number of tokens");
    if (!(shareAtEnd_ >= 0 && shareAtEnd_ <= 1))
        refuse(place, "last_bin_share_at_end", "a share from 0 to 1");
}

std::int64_t LengthPreset::length(std::int64_t document) const {
    Random random = Random::stream(seed_, static_cast<std::uint64_t>(document));
    // Without replacement, so that each sample of that many documents holds the published counts exactly:
    // with a hundred documents in the last bin, independent draws would scatter the attention work by a
    // tenth.
    const auto sample = static_cast<std::uint64_t>(cumulativeCounts_.back());
    const auto index = static_cast<std::uint64_t>(document);
    const std::uint64_t sampleSeed = Random::stream(seed_, ~(index / sample)).next();
    const auto drawn = static_cast<std::int64_t>(shuffledIndex(index % sample, sample, sampleSeed));
    const auto found = std::upper_bound(cumulativeCounts_.begin(), cumulativeCounts_.end(), drawn);
    const auto bin = found - cumulativeCounts_.begin();
    const double end = binWidth_ * static_cast<double>(bin + 1);
    const bool last = bin + 1 == static_cast<std::ptrdiff_t>(cumulativeCounts_.size());
    if (last && random.uniform() < shareAtEnd_)
        return static_cast<std::int64_t>(end);
    double inside = random.uniform() * binWidth_;
    if (bin == 0 && exponentialMean_ > 0) {
        const double insideBin = 1 - std::exp(-binWidth_ / exponentialMean_);
        inside = -exponentialMean_ * std::log1p(-random.uniform() * insideBin);
    }
    // (0, width] in whole tokens: a document of a distribution is never empty.
    const auto tokens = static_cast<std::int64_t>(binWidth_ * static_cast<double>(bin) + inside) + 1;
    return std::min(tokens, static_cast<std::int64_t>(end));
}

std::unique_ptr<LengthSource> findLengthPreset(std::string_view name, std::uint64_t seed) {
    const EmbeddedText* preset = findPreset(lengthPresetTexts(), name);
    if (!preset)
        return nullptr;
    return std::make_unique<LengthPreset>(preset->text, fmt::format("length preset {}", name), seed);
}

std::vector<std::string> lengthPresetNames() {
    return presetNames(lengthPresetTexts());
}

}  // namespace ballast
