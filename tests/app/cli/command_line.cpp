// SPDX-License-Identifier: Apache-2.0
#include "tests/app/cli/command_line.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <cstdlib>
#include <filesystem>

#include "tests/core/workload/temporary_folder.h"

extern char** environ;

namespace ballast::testing {

CommandResult ballast(const std::vector<std::string>& arguments) {
    const TemporaryFolder folder;
    const std::string output = folder.file("stdout");
    const std::string errors = folder.file("stderr");
    std::string program = std::string(BALLAST_BIN_DIR) + "/ballast";
    std::vector<char*> words = {program.data()};
    std::vector<std::string> copies = arguments;
    for (std::string& word : copies)
        words.push_back(word.data());
    words.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const int writing = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), writing, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), writing, 0600);
    pid_t child = 0;
    const int problem = posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) {
        ADD_FAILURE() << program << " cannot be started";
        return {};
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, fileContent(output), fileContent(errors)};
}

std::string answerOf(const std::vector<std::string>& arguments) {
    const CommandResult result = ballast(arguments);
    std::string shown;
    for (const std::string& word : arguments)
        shown += " " + word;
    EXPECT_EQ(result.exitCode, 0) << "ballast" << shown << "\n" << result.errors;
    return result.output;
}

bool hasTrainer() {
    return std::filesystem::exists(std::string(BALLAST_BIN_DIR) + "/ballast-train");
}

}  // namespace ballast::testing
