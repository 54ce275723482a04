// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// A published histogram of document lengths as an endless source; resources/lengths/README.md describes the
/// file. length(i) is a pure function of (seed, i); documents
/// [k * n, (k + 1) * n) with n = sampleDocuments() hold each bin exactly as often as counted, in a random
/// order.
class LengthPreset : public LengthSource {
  public:
    /// Throws Error naming `place` and the key.
    LengthPreset(std::string_view json, std::string_view place, std::uint64_t seed);

    std::optional<std::int64_t> documents() const override { return std::nullopt; }
    std::int64_t sampleDocuments() const override { return cumulativeCounts_.back(); }
    std::int64_t length(std::int64_t document) const override;
    std::string description() const override { return name_ + " (" + source_ + ")"; }

  private:
    std::string name_;
    std::string source_;
    std::uint64_t seed_;
    double binWidth_ = 0;
    double exponentialMean_ = 0;  ///< of the first bin; 0: uniform
    double shareAtEnd_ = 0;
    std::vector<std::int64_t> cumulativeCounts_;
};

/// The preset of that name, or nothing.
std::unique_ptr<LengthSource> findLengthPreset(std::string_view name, std::uint64_t seed);

}  // namespace ballast
