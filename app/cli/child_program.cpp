// SPDX-License-Identifier: Apache-2.0
#include "app/cli/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace ballast::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::optional<pid_t> spawn(const std::vector<std::string>& argv, int output) {
    std::vector<char*> words;
    for (const std::string& word : argv)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t child = 0;
    const int problem = ::posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0)
        return std::nullopt;
    return child;
}

/// Reads until the end or the deadline; false when time is up.
bool readAll(int input, Clock::time_point deadline, std::string& output) {
    constexpr std::size_t kMost = 1 << 20;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd ready{input, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
            return false;
        char buffer[4096];
        const ssize_t there = ::read(input, buffer, sizeof buffer);
        if (there <= 0)
            return true;
        if (output.size() < kMost)
            output.append(buffer, static_cast<std::size_t>(there));
    }
}

}  // namespace

std::optional<ChildResult> runChild(const std::vector<std::string>& argv, std::chrono::milliseconds time) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return std::nullopt;
    const auto child = spawn(argv, ends[1]);
    ::close(ends[1]);
    ChildResult result;
    if (child && !readAll(ends[0], Clock::now() + time, result.output))
        ::kill(*child, SIGKILL);
    ::close(ends[0]);
    if (!child)
        return std::nullopt;
    int status = 0;
    ::waitpid(*child, &status, 0);
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

}  // namespace ballast::cli
