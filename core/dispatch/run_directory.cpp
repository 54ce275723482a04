// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/run_directory.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

/// Files of a run directory are small; anything larger is not ours.
constexpr std::uintmax_t kLargestFile = 64 << 20;

void replaceFile(const std::filesystem::path& file, const std::string& text) {
    // A reader sees the old text or the new one, never half of it; the pid keeps two writers apart.
    std::filesystem::path temporary = file;
    temporary += fmt::format(".{}.tmp", ::getpid());
    {
        std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
        stream << text;
        stream.flush();
        if (!stream)
            throw Error(fmt::format("{}: cannot write: {}", file.string(), std::strerror(errno)),
                        ErrorCode::WorkFailed);
    }
    std::error_code problem;
    std::filesystem::rename(temporary, file, problem);
    if (problem)
        throw Error(fmt::format("{}: cannot write: {}", file.string(), problem.message()),
                    ErrorCode::WorkFailed);
}

std::optional<Json> readJson(const std::filesystem::path& file) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(file, problem);
    if (problem)
        return std::nullopt;
    if (size > kLargestFile)
        throw Error(fmt::format("{}: {} bytes, expected a small JSON file", file.string(), size));
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return std::nullopt;
    try {
        return Json::parse(stream);
    } catch (const Json::parse_error& error) {
        throw Error(fmt::format("{}: byte {}: not valid JSON", file.string(), error.byte));
    }
}

/// A key of a JSON file of the run directory; a missing or mistyped one is an Error with file and key.
template <class Value>
Value field(const Json& json, const std::filesystem::path& file, const char* key, const char* expected) {
    if (json.is_object() && json.contains(key)) {
        try {
            return json.at(key).get<Value>();
        } catch (const Json::exception&) {
        }
    }
    throw Error(fmt::format("{}: key '{}': expected {}", file.string(), key, expected));
}

std::string hostName() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

struct ProcessStat {
    char state = 'X';
    std::int64_t startTime = 0;
};

/// State and start time of a pid as /proc/<pid>/stat has them, fields 3 and 22; the name in field 2 may hold
/// anything, so that fields are counted from its last bracket.
std::optional<ProcessStat> processStat(int pid) {
    std::ifstream stream(fmt::format("/proc/{}/stat", pid));
    std::string text;
    if (!std::getline(stream, text, '\0'))
        return std::nullopt;
    const std::size_t bracket = text.rfind(')');
    if (bracket == std::string::npos || bracket + 2 >= text.size())
        return std::nullopt;
    ProcessStat stat;
    stat.state = text[bracket + 2];
    std::size_t at = bracket + 2;
    for (int fieldNumber = 3; fieldNumber < 22; ++fieldNumber) {
        at = text.find(' ', at);
        if (at == std::string::npos)
            return std::nullopt;
        ++at;
    }
    stat.startTime = std::strtoll(text.c_str() + at, nullptr, 10);
    return stat;
}

Json processJson(const RunProcess& process) {
    return {{"rank", process.rank},
            {"host", process.host},
            {"pid", process.pid},
            {"start_time", process.startTime}};
}

std::string processFileName(int rank) {
    if (rank == kMpirunRank)
        return "mpirun.json";
    if (rank == kRunnerRank)
        return "runner.json";
    return fmt::format("{}.json", rank);
}

std::int64_t secondsSince1970() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

RunProcess RunProcess::current(int rank) {
    return ofPid(rank, ::getpid());
}

RunProcess RunProcess::ofPid(int rank, int pid) {
    RunProcess process{rank, hostName(), pid, 0};
    if (const auto stat = processStat(pid))
        process.startTime = stat->startTime;
    return process;
}

bool RunProcess::alive() const {
    if (pid <= 0 || host != hostName())
        return false;
    const auto stat = processStat(pid);
    return stat && stat->startTime == startTime && stat->state != 'Z' && stat->state != 'X';
}

bool RunProcess::signal(int signalNumber) const {
    return alive() && ::kill(pid, signalNumber) == 0;
}

void RunDirectory::create(const TrainJob& job) const {
    std::error_code problem;
    for (const char* folder : {"pids", "logs", "spool", "ends", "checkpoint"}) {
        std::filesystem::create_directories(path_ / folder, problem);
        if (problem)
            throw Error(
                fmt::format("{}: cannot make the folder: {}", (path_ / folder).string(), problem.message()),
                ErrorCode::WorkFailed);
    }
    Json json = {{"scenario", Json::parse(job.scenario)},
                 {"device", job.device},
                 {"clock", job.clock},
                 {"export_step", nullptr},
                 {"export_directory", job.exportDirectory},
                 {"plan", job.plan},
                 {"arguments", job.arguments},
                 {"host", hostName()},
                 {"versions", {{"run_directory", 1}}}};
    if (job.exportStep)
        json["export_step"] = *job.exportStep;
    replaceFile(path_ / "run.json", json.dump(2) + "\n");
}

TrainJob RunDirectory::readJob() const {
    const std::filesystem::path file = path_ / "run.json";
    const std::optional<Json> json = readJson(file);
    if (!json)
        throw Error(fmt::format("{}: cannot be read, expected a run directory of ballast", file.string()));
    TrainJob job;
    job.scenario = field<Json>(*json, file, "scenario", "a scenario").dump();
    job.device = field<std::string>(*json, file, "device", "a string");
    job.clock = field<std::string>(*json, file, "clock", "a string");
    if (!field<Json>(*json, file, "export_step", "a step or null").is_null())
        job.exportStep = field<std::int64_t>(*json, file, "export_step", "a step or null");
    job.exportDirectory = field<std::string>(*json, file, "export_directory", "a string");
    job.plan = field<std::string>(*json, file, "plan", "a path");
    job.arguments = field<std::vector<std::string>>(*json, file, "arguments", "a list of strings");
    return job;
}

void RunDirectory::recordProcess(const RunProcess& process) const {
    replaceFile(path_ / "pids" / processFileName(process.rank), processJson(process).dump() + "\n");
}

std::vector<RunProcess> RunDirectory::processes() const {
    std::vector<RunProcess> processes;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(path_ / "pids", problem)) {
        if (entry.path().extension() != ".json")
            continue;
        const std::optional<Json> json = readJson(entry.path());
        if (!json)
            continue;
        RunProcess process;
        process.rank = field<int>(*json, entry.path(), "rank", "a number");
        process.host = field<std::string>(*json, entry.path(), "host", "a string");
        process.pid = field<int>(*json, entry.path(), "pid", "a number");
        process.startTime = field<std::int64_t>(*json, entry.path(), "start_time", "a number");
        processes.push_back(std::move(process));
    }
    std::ranges::sort(processes, {}, &RunProcess::rank);
    return processes;
}

void RunDirectory::mergeProcesses() const {
    Json list = Json::array();
    for (const RunProcess& process : processes())
        list.push_back(processJson(process));
    replaceFile(path_ / "pids.json", list.dump(2) + "\n");
}

void RunDirectory::requestStop() const {
    replaceFile(path_ / "stop", "");
}

bool RunDirectory::stopRequested() const {
    std::error_code problem;
    return std::filesystem::exists(path_ / "stop", problem);
}

void RunDirectory::requestKill() const {
    replaceFile(path_ / "kill", "");
}

bool RunDirectory::killRequested() const {
    std::error_code problem;
    return std::filesystem::exists(path_ / "kill", problem);
}

void RunDirectory::writeState(RunState state, const std::string& failure) const {
    const Json json = {
        {"state", runStateName(state)}, {"failure", failure}, {"heartbeat", secondsSince1970()}};
    replaceFile(path_ / "state.json", json.dump() + "\n");
}

std::optional<RunDirectory::StateFile> RunDirectory::readState() const {
    const std::filesystem::path file = path_ / "state.json";
    const std::optional<Json> json = readJson(file);
    if (!json)
        return std::nullopt;
    const auto state = runStateFromName(field<std::string>(*json, file, "state", "the name of a run state"));
    if (!state)
        throw Error(fmt::format("{}: key 'state': expected the name of a run state", file.string()));
    return StateFile{*state, field<std::string>(*json, file, "failure", "a string"),
                     field<std::int64_t>(*json, file, "heartbeat", "seconds since 1970")};
}

void RunDirectory::writeRankEnd(int rank, bool ok, const std::string& sentence) const {
    const Json json = {{"state", ok ? "finished" : "failed"}, {"sentence", sentence}};
    replaceFile(path_ / "ends" / fmt::format("{}.json", rank),
                json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<RunDirectory::RankEnd> RunDirectory::rankEnd(int rank) const {
    const std::filesystem::path file = path_ / "ends" / fmt::format("{}.json", rank);
    const std::optional<Json> json = readJson(file);
    if (!json)
        return std::nullopt;
    return RankEnd{field<std::string>(*json, file, "state", "'finished' or 'failed'") == "finished",
                   field<std::string>(*json, file, "sentence", "a string")};
}

}  // namespace ballast
