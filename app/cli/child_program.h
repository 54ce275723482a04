// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ballast::cli {

/// What another program printed and how it ended.
struct ChildResult {
    int exitCode = -1;   ///< -1: ended by a signal, or by us after its time
    std::string output;  ///< stdout, at most 1 MiB
};

/// Runs argv (never through a shell) with stderr dropped; nothing when it cannot be started. Ends it when its
/// time is up.
std::optional<ChildResult> runChild(const std::vector<std::string>& argv, std::chrono::milliseconds time);

}  // namespace ballast::cli
