// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ballast::testing {

/// What one call of the `ballast` program printed and how it ended.
struct CommandResult {
    int exitCode = -1;  ///< -1: ended by a signal
    std::string output;
    std::string errors;
};

/// Runs the program of this build folder, without a shell.
CommandResult ballast(const std::vector<std::string>& arguments);

/// The same, expecting exit code 0; gives stdout.
std::string answerOf(const std::vector<std::string>& arguments);

bool hasTrainer();

}  // namespace ballast::testing
