// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "core/base/error.h"
#include "core/dispatch/runner.h"

namespace ballast {
namespace {

std::optional<std::filesystem::path> inPath(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
        if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate))
            return candidate;
    }
    return std::nullopt;
}

/// Which package of ours a program comes with.
std::string_view componentOf(const std::string& name) {
    if (name == "ballast")
        return "cli";
    return name == "ballast-studio" ? "studio" : "backend";
}

}  // namespace

std::filesystem::path findProgram(const std::string& name) {
    std::error_code problem;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
    if (!problem) {
        const std::filesystem::path beside = self.parent_path() / name;
        if (::access(beside.c_str(), X_OK) == 0)
            return beside;
    }
    if (const auto found = inPath(name))
        return *found;
    throw Error(
        fmt::format("{} was found neither beside the running program nor in PATH: the component '{}' is not "
                    "installed",
                    name, componentOf(name)));
}

std::vector<std::string> launchCommand(const RunRequest& request, const std::filesystem::path& runDirectory) {
    if (request.device != "cpu")
        throw Error(fmt::format("run: device={} is not built yet; use cpu", request.device));
    if (request.launcher != "local")
        throw Error(fmt::format("run: launcher={} is not built yet; use local", request.launcher));
    if (!inPath("mpirun"))
        throw Error("run: mpirun is not in PATH: launcher=local needs Open MPI (package openmpi-bin)");
    // More ranks than cores is the usual case here: nothing is bound, and a waiting rank yields its core
    // instead of spinning on it. One machine needs no network; single-copy reads of another process are
    // forbidden in most containers. Output lines are tagged with their rank.
    return {"mpirun",
            "--oversubscribe",
            "--bind-to",
            "none",
            "--tag-output",
            "--mca",
            "mpi_yield_when_idle",
            "1",
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            "self,vader",
            "--mca",
            "btl_vader_single_copy_mechanism",
            "none",
            "-n",
            std::to_string(request.scenario.layout.worldSize()),
            findProgram("ballast-train").string(),
            "--run-directory",
            std::filesystem::absolute(runDirectory).string()};
}

}  // namespace ballast
