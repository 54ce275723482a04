// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/child_program.h"
#include "app/cli/commands.h"
#include "core/base/error.h"
#include "core/dispatch/runner.h"
#include "core/job/cluster_spec.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Check {
    std::string name;
    bool ok = false;
    std::string detail;
};

constexpr double kGiB = 1024.0 * 1024 * 1024;

Check cores() {
    const unsigned count = std::thread::hardware_concurrency();
    return {"cores", count >= 1,
            fmt::format("{} (more ranks than cores share them; use --clock virtual)", count)};
}

Check memory() {
    constexpr double kWanted = 2;
    const double gib =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kGiB;
    return {"memory", gib >= kWanted, fmt::format("{:.1f} GiB; the main job wants {:.0f}", gib, kWanted)};
}

Check disk() {
    constexpr double kWanted = 2;
    std::error_code problem;
    const auto space = std::filesystem::space(std::filesystem::current_path(problem), problem);
    const double gib = problem ? 0 : static_cast<double>(space.available) / kGiB;
    return {"disk", gib >= kWanted,
            fmt::format("{:.1f} GiB free in this folder; {:.0f} are wanted", gib, kWanted)};
}

std::string firstLine(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

Check outsideProgram(const std::string& name, const std::vector<std::string>& argv, bool needed,
                     const std::string& purpose) {
    const auto answer = runChild(argv, std::chrono::seconds(10));
    const bool there = answer && answer->exitCode == 0;
    return {name, there || !needed,
            there ? firstLine(answer->output)
                  : fmt::format("not there{}: {}", needed ? "" : " (optional)", purpose)};
}

Check ownProgram(const std::string& name, bool needed) {
    try {
        return {name, true, findProgram(name).string()};
    } catch (const Error& problem) {
        return {name, !needed, problem.what() + std::string(needed ? "" : " (optional)")};
    }
}

/// What `ballast-calibrate --check` found: kernels and MPI, which this program does not link.
std::vector<Check> calibratorChecks() {
    std::string program;
    try {
        program = findProgram("ballast-calibrate").string();
    } catch (const Error& problem) {
        return {{"ballast-calibrate", false, problem.what()}};
    }
    std::vector<Check> checks = {{"ballast-calibrate", true, program}};
    const auto answer = runChild({program, "--check"}, std::chrono::seconds(60));
    const auto json = Json::parse(answer ? answer->output : "", nullptr, false);
    if (!json.is_object() || !json.contains("checks")) {
        checks.push_back({"kernels", false, "ballast-calibrate --check gave no answer"});
        return checks;
    }
    try {
        for (const Json& check : json.at("checks"))
            checks.push_back({check.at("name").get<std::string>(), check.at("ok").get<bool>(),
                              check.at("detail").get<std::string>()});
    } catch (const Json::exception& problem) {
        checks.push_back({"kernels", false, std::string("ballast-calibrate --check: ") + problem.what()});
    }
    return checks;
}

Check thisMachine() {
    const std::filesystem::path file = thisMachinePath();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
        return {"this-machine", true,
                "not measured yet; ballast-calibrate --this-machine writes " + file.string()};
    try {
        const ClusterSpec cluster = loadClusterSpec("this-machine");
        return {"this-machine", true,
                fmt::format("measured {}, {}", cluster.measured.value_or("?"), file.string())};
    } catch (const Error& problem) {
        return {"this-machine", false, problem.what()};
    }
}

int doctor(bool json) {
    std::vector<Check> checks = {cores(), memory(), disk(),
                                 outsideProgram("mpirun", {"mpirun", "--version"}, true,
                                                "launcher local needs Open MPI (package openmpi-bin)"),
                                 ownProgram("ballast-train", true)};
    for (Check& check : calibratorChecks())
        checks.push_back(std::move(check));
    checks.push_back(thisMachine());
    checks.push_back(ownProgram("ballast-studio", false));
    checks.push_back(
        outsideProgram("cbc", {"cbc", "-quit"}, false, "packing by solver (package coinor-cbc)"));
    bool ok = true;
    Json answers = Json::array();
    for (const Check& check : checks) {
        ok = ok && check.ok;
        answers.push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
        if (!json)
            fmt::print("{:<8}{:<18}{}\n", check.ok ? "ok" : "MISSING", check.name, check.detail);
    }
    if (json)
        printAnswer(Json{{"checks", std::move(answers)}}.dump());
    return ok ? kDone : kWorkFailed;
}

}  // namespace

void addDoctorCommand(Program& program) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = program.app.add_subcommand("doctor", "checks what this machine lacks");
    command->add_flag("--json", *json, "one JSON document on stdout");
    command->callback([&program, json] { program.action = [json] { return doctor(*json); }; });
}

}  // namespace ballast::cli
