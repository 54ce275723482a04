// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan_file.h"
#include "core/plan/planner.h"
#include "tests/support/temporary_directory.h"

namespace ballast::testing {

/// A folder with a lengths file and a cluster file, and scenarios over them: window 64, layout (1, 2, 2, 2),
/// two micro-batches.
class PlanFolder {
  public:
    explicit PlanFolder(const std::vector<std::int64_t>& lengths, double memoryGiB = 1);

    Scenario scenario(std::string_view packing = "wlb", std::string_view sharding = "adaptive") const;
    const TemporaryDirectory& directory() const { return directory_; }

  private:
    TemporaryDirectory directory_;
};

/// Documents short and long, some empty, a few over a window of 64.
std::vector<std::int64_t> mixedLengths(std::uint64_t seed, int documents);

/// All that a plan decides about a step, as text; without the time the packer took.
std::string pictureOf(const PlanStep& step);
std::vector<std::string> picturesOf(const std::vector<PlanStep>& steps);

/// The sentence that `act` throws; empty when it does not throw an Error of bad input.
template <class Act>
std::string badInput(Act act) {
    try {
        act();
    } catch (const Error& error) {
        return error.code() == ErrorCode::BadInput ? error.what() : "";
    }
    return "";
}

}  // namespace ballast::testing
