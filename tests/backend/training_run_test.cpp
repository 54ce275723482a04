// SPDX-License-Identifier: Apache-2.0
// Whole runs from a run directory as the runner makes it, ranks as threads.
#include "backend/trainer/training_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "backend/comm/agreement.h"
#include "backend/comm/loopback_communicator.h"
#include "core/dispatch/run_directory.h"
#include "core/plan/plan_file.h"
#include "core/plan/planner.h"
#include "core/timeline/span_file.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_directory.h"

namespace ballast::backend::testing {
namespace {

using ::testing::HasSubstr;

class TrainingRun : public ::testing::Test {
  protected:
    TrainingRun() : run_(directory_ / "run") {
        std::string lengths;
        for (int document = 0; document < 120; ++document)
            lengths += fmt::format("{}\n", 1 + (document * 37) % 90);
        scenario_ = ballast::testing::tinyScenario();
        scenario_.lengths.source = {directory_.write("lengths.txt", lengths).string()};
        scenario_.lengths.window = 128;
        scenario_.layout = {1, 2, 1, 2};
        scenario_.cluster =
            directory_.write("cluster.json", clusterSpecJson(ballast::testing::tinyCluster())).string();
        scenario_.model = directory_
                              .write("model.json", R"({"hidden_size": 32, "num_hidden_layers": 3,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 48,
            "vocab_size": 64, "rope_theta": 10000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true})")
                              .string();
        scenario_.training.seed = 5;
    }

    /// Plan and job, as `ballast run` leaves them for the ranks.
    void prepare(TrainJob job = {}) {
        job.scenario = scenarioJson(scenario_);
        job.clock = "virtual";
        job.plan = "plan";
        run_.create(job);
        Planner planner(scenario_, 5);
        PlanWriter writer(run_.planFile(), planner.header());
        while (std::optional<PlanStep> step = planner.next()) {
            plannedTokens_.push_back(step->tokens());
            writer.write(*step);
        }
        writer.finish(planner.discards());
    }

    void start() {
        runLoopback(scenario_.layout.worldSize(), [&](Transport& t) { runTraining(run_.path(), t); });
    }

    std::vector<SpoolChunk> spoolOf(int rank) const {
        SpoolReader reader(run_.spoolFile(rank), rank);
        std::vector<SpoolChunk> chunks;
        while (std::optional<SpoolChunk> chunk = reader.next())
            chunks.push_back(std::move(*chunk));
        EXPECT_FALSE(reader.hasTornTail());
        return chunks;
    }

    ballast::testing::TemporaryDirectory directory_;
    RunDirectory run_;
    Scenario scenario_;
    std::vector<std::int64_t> plannedTokens_;
};

TEST_F(TrainingRun, TrainsEveryStepOfThePlanDrainIncludedAndSpoolsItOnEveryRank) {
    prepare();
    ASSERT_GE(plannedTokens_.size(), 5U);
    start();
    const std::vector<SpoolChunk> first = spoolOf(0);
    ASSERT_EQ(first.size(), plannedTokens_.size());
    for (int rank = 0; rank < 4; ++rank) {
        const std::vector<SpoolChunk> chunks = spoolOf(rank);
        ASSERT_EQ(chunks.size(), first.size());
        for (std::size_t step = 0; step < chunks.size(); ++step) {
            const StepReport& report = chunks[step].report;
            EXPECT_EQ(report.step, static_cast<std::int64_t>(step));
            EXPECT_EQ(report.tokens, plannedTokens_[step]);
            EXPECT_EQ(report.lossSum, first[step].report.lossSum);
            EXPECT_EQ(report.end, first[step].report.end);
            EXPECT_EQ(report.begin, step == 0 ? 0 : first[step - 1].report.end);
            EXPECT_FALSE(chunks[step].spans.empty());
        }
        ASSERT_TRUE(run_.rankEnd(rank).has_value());
        EXPECT_TRUE(run_.rankEnd(rank)->ok);
    }
    // Uniform guesses over 64 tokens cost log(64) nats.
    EXPECT_NEAR(first[0].report.lossSum / static_cast<double>(first[0].report.targets), std::log(64.0), 0.1);
    EXPECT_EQ(run_.processes().size(), 4U);
}

TEST_F(TrainingRun, EndsAfterTheStepInWhichAStopWasAskedFor) {
    prepare();
    run_.requestStop();
    start();
    EXPECT_TRUE(spoolOf(0).empty());
    EXPECT_THAT(run_.rankEnd(2)->sentence, HasSubstr("stopped on request"));
}

TEST_F(TrainingRun, DamagedPlanIsTheSameSentenceOnAllRanksAfterTheStepsBeforeIt) {
    prepare();
    std::fstream plan(run_.planFile(), std::ios::in | std::ios::out);
    std::string line;
    for (int i = 0; i < 3; ++i)
        std::getline(plan, line);
    plan.write("garbage", 7);
    plan.close();
    std::mutex mutex;
    std::vector<std::string> sentences;
    runLoopback(4, [&](Transport& transport) {
        try {
            runTraining(run_.path(), transport);
        } catch (const AgreedError& error) {
            std::lock_guard lock(mutex);
            sentences.emplace_back(error.what());
        }
    });
    ASSERT_EQ(sentences.size(), 4U);
    for (const std::string& sentence : sentences) {
        EXPECT_EQ(sentence, sentences.front());
        EXPECT_THAT(sentence, HasSubstr("plan"));
    }
    EXPECT_EQ(spoolOf(3).size(), 2U);
}

TEST_F(TrainingRun, ExportsTheStepAskedForAndOnlyThat) {
    TrainJob job;
    job.exportStep = 1;
    job.exportDirectory = (directory_ / "export").string();
    prepare(job);
    start();
    for (const char* name : {"weights_before", "gradients", "weights_after", "first_moment", "second_moment"})
        EXPECT_TRUE(std::filesystem::exists(directory_ / "export" / fmt::format("{}.safetensors", name)));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_ / "export"), {}), 5);
}

TEST_F(TrainingRun, ExportThatCannotBeWrittenFailsTheRunOnAllRanks) {
    TrainJob job;
    job.exportStep = 0;
    job.exportDirectory = (directory_ / "export").string();
    prepare(job);
    std::filesystem::create_directories(directory_ / "export" / "gradients.safetensors.partial");
    EXPECT_THROW(start(), AgreedError);
}

TEST_F(TrainingRun, PlantedDelayOfTheJobBurnsOneRanksProcessorTime) {
    prepare();
    std::ifstream in(run_.path() / "run.json");
    nlohmann::json job = nlohmann::json::parse(in);
    job["planted_delay"] = {{"rank", 1}, {"step", 2}, {"milliseconds", 200}};
    std::ofstream(run_.path() / "run.json") << job.dump();
    start();
    auto seconds = [](const StepReport& report) { return toSeconds(report.end - report.begin).value(); };
    const std::vector<SpoolChunk> chunks = spoolOf(0);
    EXPECT_GT(seconds(chunks[2].report), 0.2);
    EXPECT_LT(seconds(chunks[3].report), 0.2);
}

TEST_F(TrainingRun, DeviceThatIsNotBuiltIsRefusedByName) {
    TrainJob job;
    job.device = "cuda";
    prepare(job);
    try {
        start();
        FAIL() << "device cuda is not built yet";
    } catch (const AgreedError& error) {
        EXPECT_THAT(error.what(), HasSubstr("device=cuda"));
    }
}

TEST_F(TrainingRun, WrongNumberOfRanksIsRefused) {
    prepare();
    EXPECT_THROW(runLoopback(2, [&](Transport& t) { runTraining(run_.path(), t); }), AgreedError);
}

}  // namespace
}  // namespace ballast::backend::testing
