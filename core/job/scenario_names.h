// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ballast {

/// Names of the scenario's choices as they stand in the file, in the order of the enumerators where there are
/// any. A name may be designed and not built yet: refuseUnbuilt tells.
inline constexpr std::array<std::string_view, 3> kOverlongNames = {"split", "truncate", "drop"};
inline constexpr std::array<std::string_view, 2> kCutNames = {"window", "none"};
inline constexpr std::array<std::string_view, 2> kOrderNames = {"shuffled", "source"};
inline constexpr std::array<std::string_view, 4> kScheduleKinds = {"gpipe", "1f1b", "interleaved", "zb-h1"};
inline constexpr std::array<std::string_view, 8> kPackingStrategies = {
    "sequential", "greedy", "solver", "first-fit", "best-fit", "karmarkar-karp", "wlb", "refined"};
inline constexpr std::array<std::string_view, 6> kShardingStrategies = {
    "per-sequence", "per-document", "adaptive", "mixed", "striped", "contiguous"};
inline constexpr std::array<std::string_view, 2> kExchanges = {"all-gather", "need-based"};
inline constexpr std::array<std::string_view, 2> kCostModels = {"calibrated", "quadratic"};
inline constexpr std::array<std::string_view, 3> kRecomputations = {"none", "selective", "full"};
inline constexpr std::array<std::string_view, 3> kPrecisions = {"auto", "fp32", "bf16"};

/// Largest values a scenario may hold; they keep every product of them inside 64 bits.
inline constexpr std::int64_t kLargestDegree = 65536;
inline constexpr std::int64_t kLargestWorld = 1 << 20;
inline constexpr std::int64_t kLargestLength = std::int64_t{1} << 31;
inline constexpr std::int64_t kMostQueues = 64;
/// Thresholds that `auto` chooses among (planner.md section 5), so the most queues it can serve.
inline constexpr std::int64_t kAutoThresholds = 6;

}  // namespace ballast
