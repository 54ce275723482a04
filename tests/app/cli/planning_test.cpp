// SPDX-License-Identifier: Apache-2.0
// `ballast pack`, `shard`, `plan`, `simulate`, `runs` and `compare` on one small scenario.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/app/cli/command_line.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class Planning : public ::testing::Test {
  protected:
    Planning() {
        scenario_ = folder_.file("s.json");
        answerOf({"scenario", "new", scenario_, "lengths.source=wlb-4k", "lengths.window=4096", "model=demo",
                  "layout.tp=1", "layout.cp=2", "layout.dp=2", "layout.pp=2", "micro_batches=2", "steps=4"});
    }

    std::string textOf(Words words) const {
        words.insert(words.begin() + 1, scenario_);
        words.push_back("--json");
        return answerOf(words);
    }
    json of(const Words& words) const { return json::parse(textOf(words)); }

    std::string plan(const std::string& name, const Words& more = {}) const {
        Words words = {"plan", scenario_, "--out", folder_.file(name)};
        words.insert(words.end(), more.begin(), more.end());
        answerOf(words);
        return folder_.file(name);
    }

    TemporaryFolder folder_;
    std::string scenario_;
};

std::string withoutMilliseconds(const std::string& text) {
    return std::regex_replace(text, std::regex("_ms\":[-+.0-9e]+"), "_ms\":0");
}

TEST_F(Planning, PackAnswersUnderTheStatedNames) {
    const json answer = of({"pack"});
    EXPECT_GE(answer.at("steps").size(), 4u);
    std::int64_t tokens = 0;
    std::size_t number = 0;
    for (const json& step : answer.at("steps")) {
        EXPECT_EQ(step.at("step"), number);
        EXPECT_EQ(step.at("kind"), number < 4 ? "full" : "drain");
        EXPECT_GE(step.at("imbalance_degree"), 1.0);
        EXPECT_GE(step.at("attention_imbalance"), 1.0);
        EXPECT_GE(step.at("pack_ms"), 0.0);
        for (const char* key : {"documents", "queued_tokens", "remained_tokens"})
            EXPECT_TRUE(step.at("carried").contains(key));
        for (const json& batch : step.at("micro_batches")) {
            EXPECT_LT(batch.at("dp"), 2);
            EXPECT_LT(batch.at("index"), 2);
            EXPECT_TRUE((batch.at("workload_s") > 0) == (batch.at("tokens") > 0));
            tokens += batch.at("tokens").get<std::int64_t>();
        }
        ++number;
    }
    EXPECT_EQ(tokens, 4 * 4 * 4096);
    EXPECT_EQ(answer.at("chosen").at("thresholds").size(), 2u);
    EXPECT_GE(answer.at("chosen").at("max_tokens"), 4096);
    EXPECT_EQ(answer.at("discarded"), json::array());
    const json& summary = answer.at("summary");
    for (const char* key : {"imbalance_degree", "imbalance_degree_mean_of_steps", "imbalance_degree_p95",
                            "mean_delay_steps", "mean_displacement_steps", "max_delay_steps", "documents"})
        EXPECT_TRUE(summary.at(key).is_number()) << key;
    EXPECT_EQ(summary.at("tokens"), tokens);
    EXPECT_EQ(summary.at("discarded_tokens"), 0);
}

TEST_F(Planning, AnswersAreTheSameByteForByteButForMilliseconds) {
    for (const std::string command : {"pack", "shard", "simulate"})
        EXPECT_EQ(withoutMilliseconds(textOf({command})), withoutMilliseconds(textOf({command}))) << command;
}

TEST_F(Planning, StepsAndSetOverrideTheScenario) {
    EXPECT_EQ(of({"pack", "--steps", "2", "--set", "packing.strategy=sequential"}).at("steps").size(), 2u);
    EXPECT_EQ(of({"pack", "--set", "packing.strategy=sequential", "--set", "layout.dp=1", "--steps", "1"})
                  .at("steps")
                  .at(0)
                  .at("micro_batches")
                  .size(),
              2u);
    EXPECT_EQ(of({"pack", "--steps", "0"}).at("steps").size(), 0u);
}

TEST_F(Planning, ForwardWorkloadsAreLessThanThoseOfBothPasses) {
    const auto first = [&](const Words& words) {
        return of(words).at("steps").at(0).at("micro_batches").at(0).at("workload_s").get<double>();
    };
    EXPECT_LT(first({"pack", "--cost-pass", "forward"}), first({"pack"}));
}

TEST_F(Planning, ShardAnswersUnderTheStatedNames) {
    const json answer = of({"shard"});
    for (const json& step : answer.at("steps")) {
        for (const json& batch : step.at("micro_batches")) {
            for (const char* name : {"per-sequence", "per-document", "mixed", "striped", "contiguous"}) {
                const json& ranks = batch.at("strategies").at(name).at("ranks");
                ASSERT_EQ(ranks.size(), 2u);
                for (const json& rank : ranks) {
                    for (const char* key : {"tokens", "pairs", "kv_bytes_in", "kv_bytes_out", "latency_s"})
                        EXPECT_TRUE(rank.at(key).is_number()) << key;
                    for (const json& slice : rank.at("slices"))
                        EXPECT_LE(slice.at("piece_begin"), slice.at("begin"));
                }
            }
            EXPECT_TRUE(batch.at("strategies").contains(batch.at("chosen").get<std::string>()));
            EXPECT_TRUE(batch.at("strategies").contains(batch.at("oracle").get<std::string>()));
            EXPECT_NE(batch.at("chosen"), "mixed");  // adaptive chooses between the first two
        }
    }
}

TEST_F(Planning, SimulateAnswersUnderTheStatedNames) {
    const json answer = of({"simulate"});
    for (const char* key : {"seconds_per_token", "tokens_per_s", "mfu", "hfu", "bubble", "bubble_schedule",
                            "bubble_imbalance", "imbalance_degree"})
        EXPECT_TRUE(answer.at(key).is_number()) << key;
    for (const char* key : {"max", "rank", "limit"})
        EXPECT_TRUE(answer.at("memory_gib").at(key).is_number()) << key;
    const json& time = answer.at("step_time_s");
    EXPECT_LE(time.at("p5"), time.at("median"));
    EXPECT_LE(time.at("median"), time.at("p95"));
    EXPECT_NEAR(answer.at("seconds_per_token").get<double>() * answer.at("tokens_per_s").get<double>(), 1,
                1e-9);
    double parts = 0;
    for (const auto& [kind, seconds] : answer.at("breakdown").items())
        parts += seconds.get<double>();
    EXPECT_NEAR(parts / time.at("mean").get<double>(), 1, 1e-6);
}

TEST_F(Planning, TheCriticalPathIsWithoutGapsAndAsLongAsItsStep) {
    const json answer = of({"simulate", "--steps", "1", "--set", "packing.strategy=sequential"});
    const json& path = answer.at("critical_path");
    ASSERT_FALSE(path.empty());
    std::int64_t length = 0;
    for (std::size_t index = 0; index < path.size(); ++index) {
        length += path[index].at("end").get<std::int64_t>() - path[index].at("begin").get<std::int64_t>();
        if (index > 0) {
            EXPECT_EQ(path[index].at("begin"), path[index - 1].at("end"));
        }
    }
    EXPECT_NEAR(static_cast<double>(length) * 1e-9, answer.at("step_time_s").at("median").get<double>(),
                1e-9);
}

TEST_F(Planning, APlanSimulatesLikeItsScenario) {
    const std::string file = folder_.file("p.plan");
    const json planned = of({"plan", "--out", file});
    EXPECT_EQ(planned.at("plan"), file);
    EXPECT_EQ(planned.at("steps"), of({"pack"}).at("steps").size());
    EXPECT_EQ(answerOf({"simulate", file, "--json"}), textOf({"simulate"}));
    const CommandResult changed = ballast({"simulate", file, "--steps", "1"});
    EXPECT_EQ(changed.exitCode, 2);
    EXPECT_THAT(changed.errors, HasSubstr("is a plan, which --set and --steps cannot change"));
    EXPECT_EQ(ballast({"pack", file}).exitCode, 2);
}

TEST_F(Planning, ATornPlanIsExitTwoWithItsLine) {
    const std::string file = plan("p.plan");
    const std::string whole = fileContent(file);
    const std::string torn = folder_.write("torn.plan", whole.substr(0, whole.size() / 2));
    const CommandResult result = ballast({"simulate", torn});
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_THAT(result.errors, HasSubstr("torn.plan"));
    EXPECT_THAT(result.errors, HasSubstr("line"));
}

TEST_F(Planning, ASimulationStoredInAWorkspaceIsListedAndShown) {
    const std::string workspace = folder_.file("w.ballast");
    const json answer = of({"simulate", "--workspace", workspace});
    const json listed = json::parse(answerOf({"runs", "--workspace", workspace, "--json"}));
    ASSERT_EQ(listed.at("runs").size(), 1u);
    const json& run = listed.at("runs").at(0);
    EXPECT_EQ(run.at("id"), answer.at("run"));
    EXPECT_EQ(run.at("kind"), "simulated");
    EXPECT_EQ(run.at("state"), "done");
    EXPECT_EQ(run.at("steps"), answer.at("steps"));
    const json shown =
        json::parse(answerOf({"runs", "show", run.at("id").dump(), "--workspace", workspace, "--json"}));
    EXPECT_EQ(shown.at("run"), run.at("id"));
    double seconds = 0;
    std::int64_t tokens = 0;
    for (const json& step : shown.at("steps")) {
        seconds += step.at("step_time_s").get<double>();
        tokens += step.at("tokens").get<std::int64_t>();
        EXPECT_TRUE(step.at("loss").is_null());
    }
    EXPECT_NEAR(seconds / static_cast<double>(tokens) / answer.at("seconds_per_token").get<double>(), 1,
                1e-6);
    EXPECT_THAT(answerOf({"runs", "--workspace", workspace}), HasSubstr("simulated"));
    const CommandResult absent = ballast({"runs", "show", "7", "--workspace", workspace});
    EXPECT_EQ(absent.exitCode, 2);
    EXPECT_THAT(absent.errors, HasSubstr("7"));
    EXPECT_EQ(ballast({"runs", "--workspace", scenario_}).exitCode, 2);
}

TEST_F(Planning, ComparesPlansWithoutAWorkspaceAndRunsWithinOne) {
    const std::string a =
        plan("a.plan", {"--set", "packing.strategy=sequential", "--set", "sharding.strategy=per-sequence"});
    const std::string b = plan("b.plan");
    const json answer = json::parse(answerOf({"compare", "plan:" + a, "plan:" + b, "--json"}));
    EXPECT_EQ(answer.at("comparable"), true) << answer.at("why_not");
    ASSERT_EQ(answer.at("runs").size(), 2u);
    for (const json& run : answer.at("runs")) {
        EXPECT_EQ(run.at("kind"), "simulated");
        EXPECT_TRUE(run.at("prediction").is_null());
        EXPECT_TRUE(run.at("loss_last").is_null());
        EXPECT_TRUE(run.at("waiting_s").is_object());
        for (const char* key : {"seconds_per_token", "tokens_per_s", "imbalance_degree", "compute_s"})
            EXPECT_GT(run.at(key), 0.0) << key;
    }
    const double delta = answer.at("delta").at("seconds_per_token");
    EXPECT_NEAR(delta,
                answer.at("runs").at(1).at("seconds_per_token").get<double>() /
                        answer.at("runs").at(0).at("seconds_per_token").get<double>() -
                    1,
                1e-12);
    EXPECT_TRUE(answer.at("delta").at("noise").is_number());

    const std::string workspace = folder_.file("w.ballast");
    const std::string run = of({"simulate", "--workspace", workspace}).at("run").dump();
    for (int times = 0; times < 2; ++times) {
        const json mixed =
            json::parse(answerOf({"compare", "run:" + run, "plan:" + b, "--workspace", workspace, "--json"}));
        EXPECT_EQ(mixed.at("delta").at("seconds_per_token"), 0.0);
    }
    EXPECT_EQ(json::parse(answerOf({"runs", "--workspace", workspace, "--json"})).at("runs").size(), 1u)
        << "a plan that the workspace has a simulation of is not simulated again";
    EXPECT_THAT(answerOf({"compare", run, "plan:" + a, "--workspace", workspace}),
                HasSubstr("seconds per token"));
}

TEST_F(Planning, FailIfJudgesTheChange) {
    const std::string a = plan("a.plan", {"--set", "packing.strategy=sequential"});
    const std::string b = plan("b.plan");
    const Words words = {"compare", "plan:" + a, "plan:" + b};
    const auto codeOf = [&](const std::string& limit) {
        Words all = words;
        all.insert(all.end(), {"--fail-if", limit});
        return ballast(all).exitCode;
    };
    EXPECT_EQ(codeOf("imbalance_degree>+3%"), 0);
    EXPECT_EQ(codeOf("tokens_per_s<+900%"), 1);
    EXPECT_EQ(codeOf("step_time>-99%"), 1);
    EXPECT_EQ(codeOf("step_time>+900%"), 0);
    EXPECT_EQ(codeOf("speed>+3%"), 2);
    EXPECT_EQ(codeOf("step_time>3"), 2);
    EXPECT_EQ(codeOf("loss>+3%"), 2);
    EXPECT_EQ(ballast({"compare", "1", "2"}).exitCode, 2);
    EXPECT_EQ(ballast({"compare", "1", "x", "--workspace", folder_.file("w")}).exitCode, 2);
}

TEST_F(Planning, RunChecksBeforeItWritesAnything) {
    const std::string workspace = folder_.file("w.ballast");
    const auto refusal = [&](const Words& words) {
        const CommandResult result = ballast(words);
        EXPECT_EQ(result.exitCode, 2) << result.errors;
        return result.errors;
    };
    EXPECT_THAT(refusal({"run"}), HasSubstr("expected a scenario or plan file"));
    EXPECT_THAT(refusal({"run", scenario_}), HasSubstr("--workspace"));
    EXPECT_THAT(refusal({"run", "--attach", folder_.path().string()}), HasSubstr("WORKSPACE.runs/ID"));
    EXPECT_THAT(refusal({"run", scenario_, "--workspace", workspace, "--clock", "sundial"}),
                HasSubstr("sundial"));
    EXPECT_FALSE(std::filesystem::exists(workspace));
}

TEST_F(Planning, RunTrainsWhatPackPrints) {
    if (!hasTrainer())
        GTEST_SKIP() << "ballast-train is not part of this build";
    const std::string workspace = folder_.file("w.ballast");
    const Words settings = {"--set", "lengths.window=256", "--set",   "layout.pp=1",
                            "--set", "layout.dp=1",        "--steps", "2"};
    Words running = {"run", "--workspace", workspace, "--clock", "virtual"};
    running.insert(running.end(), settings.begin(), settings.end());
    const json answer = of(running);
    EXPECT_EQ(answer.at("state"), "done");
    EXPECT_EQ(answer.at("clock"), "virtual");
    EXPECT_EQ(answer.at("world_size"), 2);
    EXPECT_EQ(answer.at("tokens_are"), "synthetic");
    Words packing = {"pack"};
    packing.insert(packing.end(), settings.begin(), settings.end());
    const json packed = of(packing);
    ASSERT_EQ(answer.at("steps").size(), packed.at("steps").size());
    for (std::size_t step = 0; step < packed.at("steps").size(); ++step) {
        std::int64_t tokens = 0;
        for (const json& batch : packed.at("steps").at(step).at("micro_batches"))
            tokens += batch.at("tokens").get<std::int64_t>();
        const json& trained = answer.at("steps").at(step);
        EXPECT_EQ(trained.at("tokens"), tokens);
        for (const char* key : {"loss", "targets", "gradient_norm", "learning_rate", "step_time_s"})
            EXPECT_TRUE(trained.at(key).is_number()) << key;
    }
}

}  // namespace
}  // namespace ballast::testing
