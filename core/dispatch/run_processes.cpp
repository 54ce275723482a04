// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/run_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/error.h"

extern char** environ;

namespace ballast {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPoll(50);
constexpr std::chrono::seconds kKillPatience(5);

std::vector<char*> pointers(const std::vector<std::string>& argv) {
    std::vector<char*> list;
    for (const std::string& argument : argv)
        list.push_back(const_cast<char*>(argument.c_str()));
    list.push_back(nullptr);
    return list;
}

/// The command line of a process, argument by argument; empty when it is gone or a zombie.
std::vector<std::string> commandLine(int pid) {
    std::ifstream stream(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string argument; std::getline(stream, argument, '\0');)
        arguments.push_back(argument);
    return arguments;
}

/// Every process of the run that lives, each once. Never this one.
std::vector<RunProcess> livingProcesses(const RunDirectory& directory) {
    std::vector<RunProcess> processes = directory.processes();
    std::erase_if(processes, [](const RunProcess& process) { return process.rank == kRunnerRank; });
    for (RunProcess& process : startedFor(directory))
        if (std::ranges::find(processes, process.pid, &RunProcess::pid) == processes.end())
            processes.push_back(std::move(process));
    std::erase_if(processes,
                  [](const RunProcess& process) { return process.pid == ::getpid() || !process.alive(); });
    return processes;
}

void reapChildren(const std::vector<RunProcess>& processes) {
    for (const RunProcess& process : processes)
        ::waitpid(process.pid, nullptr, WNOHANG);
}

/// In the child between fork and exec. Returns only on failure.
void becomeProgram(const std::vector<std::string>& argv, const std::filesystem::path& log) {
    ::setsid();
    const int input = ::open("/dev/null", O_RDONLY);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (input < 0 || output < 0)
        return;
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    for (int descriptor = 3; descriptor < 256; ++descriptor)
        ::close(descriptor);
    ::execvp(argv.front().c_str(), pointers(argv).data());
    const std::string sentence = fmt::format("{}: {}\n", argv.front(), std::strerror(errno));
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
}

}  // namespace

std::vector<RunProcess> startedFor(const RunDirectory& directory) {
    std::vector<RunProcess> processes;
    std::error_code problem;
    const std::filesystem::path wanted = std::filesystem::weakly_canonical(directory.path(), problem);
    for (const auto& entry : std::filesystem::directory_iterator("/proc", problem)) {
        const std::string name = entry.path().filename();
        int pid = 0;
        const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (code != std::errc() || end != name.data() + name.size())
            continue;
        const std::vector<std::string> arguments = commandLine(pid);
        for (std::size_t at = 0; at + 1 < arguments.size(); ++at)
            if (arguments[at] == "--run-directory" &&
                std::filesystem::weakly_canonical(arguments[at + 1], problem) == wanted)
                processes.push_back(RunProcess::ofPid(kMpirunRank, pid));
    }
    return processes;
}

bool endProcesses(const RunDirectory& directory, milliseconds grace) {
    for (const int signalNumber : {SIGTERM, SIGKILL}) {
        const auto patience = signalNumber == SIGTERM ? grace : milliseconds(kKillPatience);
        const auto until = steady_clock::now() + patience;
        bool first = true;
        for (;;) {
            const std::vector<RunProcess> living = livingProcesses(directory);
            if (living.empty())
                return true;
            // A KILL goes again to whoever has come since: a rank that mpirun had just started.
            if (first || signalNumber == SIGKILL)
                for (const RunProcess& process : living)
                    process.signal(signalNumber);
            first = false;
            if (steady_clock::now() >= until)
                break;
            std::this_thread::sleep_for(kPoll);
            reapChildren(living);
        }
    }
    return livingProcesses(directory).empty();
}

int launchRecorded(const RunDirectory& directory, const std::vector<std::string>& argv,
                   const std::vector<std::string>& environment, const std::filesystem::path& log) {
    const int pid = ::fork();
    if (pid < 0)
        throw Error(fmt::format("{}: cannot be started: {}", argv.front(), std::strerror(errno)),
                    ErrorCode::WorkFailed);
    if (pid > 0)
        return pid;
    try {
        directory.recordProcess(RunProcess::current(kMpirunRank));
        for (const std::string& variable : environment)
            ::putenv(const_cast<char*>(variable.c_str()));
        becomeProgram(argv, log);
    } catch (...) {
        // Falls through to the exit status below: the runner sees a launcher that failed.
    }
    ::_exit(127);
}

int startDetached(const std::vector<std::string>& argv, const std::filesystem::path& log) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0644);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t pid = 0;
    const int code =
        ::posix_spawnp(&pid, argv.front().c_str(), &files, &attributes, pointers(argv).data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (code != 0)
        throw Error(fmt::format("{}: cannot be started: {}", argv.front(), std::strerror(code)),
                    ErrorCode::WorkFailed);
    return pid;
}

}  // namespace ballast
