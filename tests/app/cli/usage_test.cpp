// SPDX-License-Identifier: Apache-2.0
// Exit codes and sentences of the `ballast` program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/app/cli/command_line.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// One sentence on stderr, nothing on stdout, exit code 2.
void expectRefusal(const Words& words, const std::string& part) {
    const CommandResult result = ballast(words);
    SCOPED_TRACE(::testing::PrintToString(words));
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_THAT(result.output, IsEmpty());
    EXPECT_THAT(result.errors, StartsWith("ballast: "));
    EXPECT_THAT(result.errors, HasSubstr(part));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1);
}

TEST(Usage, BadUsageIsExitTwoWithOneSentence) {
    expectRefusal({}, "expected a command: scan, lengths, scenario");
    expectRefusal({"pakc", "x"}, "no command \"pakc\"; did you mean pack?");
    expectRefusal({"pack"}, "pack: scenario is required; try ballast pack --help");
    expectRefusal({"pack", "absent.json"}, "absent.json");
    expectRefusal({"pack", "absent.json", "--speed"}, "--speed");
    expectRefusal({"pack", "absent.json", "--steps", "-1"}, "-1");
    expectRefusal({"pack", "absent.json", "--steps", "many"}, "--steps");
    expectRefusal({"pack", "absent.json", "--cost-pass", "backward"}, "backward");
    expectRefusal({"lengths"}, "source");
    expectRefusal({"lengths", "wlb-128k", "--window", "0"}, "--window");
    expectRefusal({"scan", ".", "--order", "size", "--out", "x"}, "--order");
    expectRefusal({"plan", "absent.json"}, "--out");
    expectRefusal({"runs"}, "--workspace");
}

TEST(Usage, AnAnswerThatTheDiskCutsShortIsAFailure) {
    for (const char* call : {"lengths wlb-128k", "lengths wlb-128k --json"}) {
        SCOPED_TRACE(call);
        const std::string command =
            std::string(BALLAST_BIN_DIR "/ballast ") + call +
            " 2>&1 >/dev/full | grep -q 'standard output: cannot be written: No space'";
        EXPECT_EQ(std::system(command.c_str()), 0);
    }
}

TEST(Usage, HelpAndVersionAreExitZero) {
    EXPECT_THAT(answerOf({"--help"}), HasSubstr("simulate"));
    EXPECT_THAT(answerOf({"pack", "--help"}), HasSubstr("--cost-pass"));
    EXPECT_THAT(answerOf({"--version"}), HasSubstr("ballast"));
    EXPECT_THAT(answerOf({"--help"}), ::testing::Not(HasSubstr("internal-runner")));
}

TEST(Usage, WhatIsNotBuiltIsRefusedByName) {
    expectRefusal({"tune", "x.json", "--gpus", "8"}, "ballast tune is not built yet");
    expectRefusal({"calibrate", "--cluster", "x", "--out", "y"}, "ballast calibrate is not built yet");
    expectRefusal({"import", "trace", "x", "--workspace", "y"}, "ballast import is not built yet");
    expectRefusal({"export", "csv"}, "ballast export is not built yet");
    TemporaryFolder folder;
    const std::string scenario = folder.file("s.json");
    answerOf({"scenario", "new", scenario});
    expectRefusal({"simulate", scenario, "--trace", "x"}, "--trace is not built yet");
    expectRefusal({"pack", scenario, "--set", "recompute=selective"}, "recompute=selective is not built yet");
    expectRefusal({"pack", scenario, "--set", "packing.strategy=refined"}, "refined");
    expectRefusal({"run", scenario, "--workspace", folder.file("w.ballast"), "--device", "cuda"},
                  "device=cuda is not built yet");
    expectRefusal({"run", scenario, "--workspace", folder.file("w.ballast"), "--launcher", "slurm"}, "slurm");
    expectRefusal({"compare", "trace:a", "1", "--workspace", "w"}, "traces are not built yet");
    EXPECT_FALSE(std::filesystem::exists(folder.file("w.ballast")));
}

TEST(Scenario, IsMadeChangedAndShown) {
    TemporaryFolder folder;
    const std::string file = folder.file("s.json");
    EXPECT_EQ(answerOf({"scenario", "new", file, "layout.cp=4", "packing.strategy=greedy"}),
              "wrote " + file + "\n");
    const auto shown = nlohmann::json::parse(answerOf({"scenario", "show", file, "--json"}));
    EXPECT_EQ(shown.at("layout").at("cp"), 4);
    EXPECT_EQ(shown.at("packing").at("strategy"), "greedy");
    EXPECT_EQ(shown.at("lengths").at("window"), 131072);
    answerOf({"scenario", "set", file, "layout.cp=2", "lengths.window=65536"});
    const auto again = nlohmann::json::parse(fileContent(file));
    EXPECT_EQ(again.at("layout").at("cp"), 2);
    EXPECT_EQ(again.at("packing").at("strategy"), "greedy");
    EXPECT_EQ(again.at("lengths").at("window"), 65536);
}

TEST(Scenario, NamesTheNearestKeyAndLeavesTheFileAlone) {
    TemporaryFolder folder;
    const std::string file = folder.file("s.json");
    answerOf({"scenario", "new", file});
    const std::string before = fileContent(file);
    expectRefusal({"scenario", "set", file, "packing.strategie=wlb"}, "strategy");
    expectRefusal({"pack", file, "--set", "layuot.cp=2"}, "layout");
    expectRefusal({"pack", file, "--set", "layout.cp"}, "layout.cp");
    EXPECT_EQ(fileContent(file), before);
    expectRefusal({"pack", folder.write("broken.json", "{\"lengths\": ")}, "broken.json");
}

TEST(Doctor, ChecksTheMachine) {
    const CommandResult result = ballast({"doctor", "--json"});
    const auto answer = nlohmann::json::parse(result.output);
    bool ok = true;
    std::vector<std::string> names;
    for (const auto& check : answer.at("checks")) {
        names.push_back(check.at("name"));
        EXPECT_FALSE(check.at("detail").get<std::string>().empty());
        ok = ok && check.at("ok").get<bool>();
    }
    EXPECT_THAT(names,
                ::testing::IsSupersetOf({"cores", "memory", "disk", "mpirun", "ballast-train", "cbc"}));
    EXPECT_EQ(result.exitCode, ok ? 0 : 1);
}

}  // namespace
}  // namespace ballast::testing
