// SPDX-License-Identifier: Apache-2.0
#include "app/cli/program.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "app/cli/commands.h"
#include "core/base/error.h"
#include "core/base/nearest.h"

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
    addReproduceCommand(program);
    addDoctorCommand(program);
    addRunnerCommand(program);
    addUnbuiltCommands(program);
}

/// Commands that a person may name.
std::vector<std::string> commandNames(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command :
         app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
        names.push_back(command->get_name());
    return names;
}

/// CLI11 only says that a command is missing where one is misspelt.
void checkCommandName(const CLI::App& app, int argc, char** argv) {
    const std::vector<std::string> names = commandNames(app);
    if (argc < 2)
        throw Error(fmt::format("expected a command: {}; try --help", fmt::join(names, ", ")));
    const std::string name = argv[1];
    const auto named = [&](const CLI::App* command) { return command->get_name() == name; };
    if (name.starts_with('-') || !app.get_subcommands(named).empty())
        return;
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    throw Error(
        fmt::format("no command \"{}\"; did you mean {}? try --help", name, nearest(name, candidates)));
}

/// "pack: scenario is required; try ballast pack --help".
std::string usageSentence(const CLI::App& app, const CLI::ParseError& problem) {
    const auto chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "" : chosen.front()->get_name();
    if (command.empty())
        return fmt::format("{}; try --help", problem.what());
    return fmt::format("{}: {}; try ballast {} --help", command, problem.what(), command);
}

std::string unwrittenAnswer() {
    return fmt::format("standard output: cannot be written: {}", std::strerror(errno));
}

/// An answer that a full disk cut short must not pass for the whole.
void flushAnswer() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw Error(unwrittenAnswer(), ErrorCode::WorkFailed);
}

}  // namespace

int runProgram(int argc, char** argv) {
    Program program;
    addCommands(program);
    try {
        checkCommandName(program.app, argc, argv);
        program.app.parse(argc, argv);
        const int code = program.action();
        flushAnswer();
        return code;
    } catch (const CLI::Success& wanted) {  // --help, --version
        return program.app.exit(wanted);
    } catch (const CLI::ParseError& problem) {
        return fail(kBadInput, usageSentence(program.app, problem));
    } catch (const Error& problem) {
        return fail(static_cast<int>(problem.code()), problem.what());
    } catch (const std::exception& problem) {
        if (std::ferror(stdout) != 0)
            return fail(kWorkFailed, unwrittenAnswer());
        return fail(kWorkFailed, fmt::format("unexpected: {}", problem.what()));
    }
}

void printAnswer(std::string_view json) {
    fmt::print("{}\n", json);
}

void printNotice(std::string_view sentence) {
    std::fflush(stdout);  // so that both in one file stand in order
    fmt::print(stderr, "note: {}\n", sentence);
}

void printNotices(const std::vector<std::string>& sentences) {
    std::set<std::string> printed;
    for (const std::string& sentence : sentences) {
        if (printed.insert(sentence).second)
            printNotice(sentence);
    }
}

}  // namespace ballast::cli
