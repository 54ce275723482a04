// SPDX-License-Identifier: Apache-2.0
#include "app/cli/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "app/cli/commands.h"
#include "core/base/error.h"

namespace ballast::cli {

namespace {

int fail(int code, std::string sentence) {
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    std::fflush(stdout);
    fmt::print(stderr, "ballast: {}\n", sentence);
    return code;
}

void addCommands(Program& program) {
    program.app.require_subcommand(1);
    program.app.set_version_flag("--version", "ballast 0.1.0");
    addScanCommand(program);
    addLengthsCommand(program);
    addScenarioCommand(program);
    addPackCommand(program);
    addShardCommand(program);
    addSimulateCommand(program);
    addPlanCommand(program);
    addRunCommand(program);
    addRunsCommand(program);
    addCompareCommand(program);
    addDoctorCommand(program);
    addRunnerCommand(program);
    addUnbuiltCommands(program);
}

}  // namespace

int runProgram(int argc, char** argv) {
    Program program;
    addCommands(program);
    try {
        program.app.parse(argc, argv);
        return program.action();
    } catch (const CLI::Success& wanted) {  // --help, --version
        return program.app.exit(wanted);
    } catch (const CLI::ParseError& problem) {
        return fail(kBadInput, fmt::format("{}; try --help", problem.what()));
    } catch (const Error& problem) {
        return fail(static_cast<int>(problem.code()), problem.what());
    } catch (const std::exception& problem) {
        return fail(kWorkFailed, fmt::format("unexpected: {}", problem.what()));
    }
}

void printAnswer(std::string_view json) {
    fmt::print("{}\n", json);
}

void printNotice(std::string_view sentence) {
    fmt::print(stderr, "note: {}\n", sentence);
}

}  // namespace ballast::cli
