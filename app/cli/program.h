// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast::cli {

/// Exit codes of formats.md.
inline constexpr int kDone = 0;
inline constexpr int kWorkFailed = 1;
inline constexpr int kBadInput = 2;

/// The command line while it is being taken apart: each command adds itself to `app` and, when it is the one
/// chosen, leaves in `action` what it does; the action's result is the exit code.
struct Program {
    CLI::App app{"Plans, simulates, runs and compares balanced 4D-parallel training."};
    std::function<int()> action;
};

/// Parses, runs, and turns every error into one sentence on stderr and an exit code.
int runProgram(int argc, char** argv);

/// Writes a JSON document, and nothing else, to stdout.
void printAnswer(std::string_view json);
/// A notice on stderr: a harmless fact that a person should know.
void printNotice(std::string_view sentence);
/// Several, each once.
void printNotices(const std::vector<std::string>& sentences);

}  // namespace ballast::cli
