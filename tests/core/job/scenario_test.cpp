// SPDX-License-Identifier: Apache-2.0
#include "core/job/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/job/scenario_names.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

/// The example of the contract for scenario files, with every key and its default.
constexpr std::string_view kDocumented = R"(
{"lengths": {"source": "wlb-128k", "window": 131072, "overlong": "split", "cut": "window", "order": "shuffled", "seed": 1, "epochs": 1},
 "model": "llama2-7b", "cluster": "h100-dgx", "layout": {"tp": 8, "cp": 2, "dp": 1, "pp": 4}, "micro_batches": 4, "steps": null,
 "schedule": {"kind": "1f1b", "virtual_stages": 1, "stages": null},
 "packing": {"strategy": "wlb", "queues": 2, "thresholds": "auto", "max_tokens": "auto", "delay_budget_steps": 0.5, "batches": 1, "time_limit_s": 10, "align": 1, "max_documents": null},
 "sharding": {"strategy": "adaptive", "exchange": "all-gather"}, "cost": {"model": "calibrated"}, "recompute": "none", "zero": 0, "precision": "auto",
 "training": {"learning_rate": 3e-4, "min_learning_rate": 3e-5, "warmup_steps": 10, "total_steps": 1000, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0, "seed": 1, "init_std": 0.02}}
)";

template <class Choices>
std::string anyOf(Random& random, const Choices& choices) {
    return std::string(choices[random.below(choices.size())]);
}

Scenario randomScenario(Random& random) {
    Scenario scenario;
    const auto between = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
    };
    const auto degree = [&] { return static_cast<int>(between(1, 16)); };
    const auto maybe = [&](std::int64_t value) {
        return random.below(2) ? std::optional<std::int64_t>(value) : std::nullopt;
    };
    scenario.lengths.source.assign(1 + random.below(3), "a \"file\" with\tnoise \xC3\xA4.jsonl#length");
    scenario.lengths.window = between(1, kLargestLength);
    scenario.lengths.overlong = static_cast<OverlongPolicy>(random.below(3));
    scenario.lengths.cut = static_cast<CutPolicy>(random.below(2));
    scenario.lengths.order = static_cast<DocumentOrder>(random.below(2));
    scenario.lengths.seed = random.next();
    scenario.lengths.epochs = between(1, 1000);
    scenario.model = "some/model.json";
    scenario.cluster = "this-machine";
    scenario.layout = {degree(), degree(), degree(), degree()};
    scenario.microBatches = degree();
    scenario.steps = maybe(between(1, 1000));
    scenario.schedule.kind = anyOf(random, kScheduleKinds);
    scenario.schedule.virtualStages = degree();
    if (random.below(2))
        scenario.schedule.stages = std::vector<std::int64_t>(
            static_cast<std::size_t>(scenario.layout.pp * scenario.schedule.virtualStages), between(1, 9));
    PackingOptions& packing = scenario.packing;
    packing.strategy = anyOf(random, kPackingStrategies);
    packing.queues = static_cast<int>(between(0, kAutoThresholds));
    if (random.below(2)) {
        packing.thresholds.emplace();
        for (int queue = 0; queue < packing.queues; ++queue)
            packing.thresholds->push_back((queue + 1) * between(100, 120) + 30 * queue);
    }
    packing.maxTokens = maybe(between(1, kLargestLength));
    packing.delayBudgetSteps = random.uniform() * 3;
    packing.batches = degree();
    packing.timeLimitSeconds = 0.001 + random.uniform();
    packing.align = between(1, 64);
    packing.maxDocuments = maybe(between(1, 100));
    scenario.sharding = {anyOf(random, kShardingStrategies), anyOf(random, kExchanges)};
    if (random.below(2))
        scenario.cost = {"quadratic", between(1, 1 << 20)};
    scenario.recompute = anyOf(random, kRecomputations);
    scenario.zero = static_cast<int>(random.below(4));
    scenario.precision = anyOf(random, kPrecisions);
    TrainingOptions& training = scenario.training;
    training.learningRate = random.uniform();
    training.minLearningRate = training.learningRate * random.uniform();
    training.warmupSteps = between(0, 100);
    training.totalSteps = between(1, 100000);
    training.beta1 = random.uniform() * 0.999;
    training.beta2 = random.uniform() * 0.999;
    training.epsilon = 1e-12 + random.uniform() * 1e-6;
    training.weightDecay = random.uniform();
    training.clipNorm = 1e-3 + random.uniform();
    training.seed = random.next();
    training.initStd = random.uniform();
    return scenario;
}

TEST(Scenario, AnEmptyObjectHasTheDocumentedDefaults) {
    EXPECT_EQ(parseScenario("{}", "a.json"), parseScenario(kDocumented, "b.json"));
    EXPECT_EQ(parseScenario("{}", "a.json"), Scenario());
}

TEST(Scenario, RoundTripsEveryValueExactlyAndTheSameBytes) {
    Random random(2026);
    for (int i = 0; i < 300; ++i) {
        const Scenario scenario = randomScenario(random);
        const std::string text = scenarioJson(scenario);
        const Scenario back = parseScenario(text, "random");
        ASSERT_EQ(back, scenario) << text;
        ASSERT_EQ(scenarioJson(back), text);
    }
}

TEST(Scenario, WritesItsKeysInTheOrderOfTheContract) {
    const std::string text = scenarioJson(Scenario());
    std::size_t last = 0;
    for (std::string_view key : {"\"lengths\"", "\"model\"", "\"cluster\"", "\"layout\"", "\"micro_batches\"",
                                 "\"steps\"", "\"schedule\"", "\"packing\"", "\"sharding\"", "\"cost\"",
                                 "\"recompute\"", "\"zero\"", "\"precision\"", "\"training\""}) {
        const std::size_t place = text.find(key, last);
        ASSERT_NE(place, std::string::npos) << key;
        last = place;
    }
}

TEST(Scenario, OneValueIsSetByItsPath) {
    Scenario scenario;
    setScenarioValue(scenario, "packing.strategy=greedy");
    setScenarioValue(scenario, "lengths.window=4096");
    setScenarioValue(scenario, "lengths.source=[\"a.idx\",\"b.csv#len\"]");
    setScenarioValue(scenario, "steps=7");
    setScenarioValue(scenario, "cost.model=quadratic");
    setScenarioValue(scenario, "cost.crossover_tokens=46000");
    setScenarioValue(scenario, "layout.dp=3");
    EXPECT_EQ(scenario.packing.strategy, "greedy");
    EXPECT_EQ(scenario.lengths.window, 4096);
    EXPECT_THAT(scenario.lengths.source, ::testing::ElementsAre("a.idx", "b.csv#len"));
    EXPECT_EQ(scenario.steps, 7);
    EXPECT_EQ(scenario.cost.crossoverTokens, 46000);
    EXPECT_EQ(scenario.layout, (Layout{8, 2, 3, 4}));
    setScenarioValue(scenario, "steps=null");
    EXPECT_EQ(scenario.steps, std::nullopt);
}

TEST(Scenario, AListOfThresholdsFixesTheNumberOfQueues) {
    Scenario scenario;
    setScenarioValue(scenario, "packing.thresholds=[100,200,300]");
    EXPECT_EQ(scenario.packing.queues, 3);
    setScenarioValue(scenario, "packing.thresholds=[]");
    EXPECT_EQ(scenario.packing.queues, 0);
    setScenarioValue(scenario, "packing.thresholds=auto");
    EXPECT_EQ(scenario.packing.thresholds, std::nullopt);
    EXPECT_EQ(parseScenario(R"({"packing":{"thresholds":[5,9,11]}})", "a").packing.queues, 3);
    EXPECT_EQ(parseScenario(R"({"packing":{"queues":2,"thresholds":[]}})", "a").packing.thresholds->size(),
              0);
}

TEST(Scenario, PathsBesideTheFileAreFoundFromAnywhere) {
    const testing::TemporaryDirectory folder;
    folder.write("data/lengths.csv", "1\n");
    folder.write("cluster.json", "{}");
    const auto file =
        folder.write("scenario.json",
                     R"({"lengths":{"source":["data/lengths.csv#len","wlb-128k","elsewhere.idx"]},
                                       "model":"demo","cluster":"cluster.json"})");
    const Scenario scenario = loadScenario(file);
    EXPECT_THAT(
        scenario.lengths.source,
        ::testing::ElementsAre((folder / "data/lengths.csv").string() + "#len", "wlb-128k", "elsewhere.idx"));
    EXPECT_EQ(scenario.model, "demo");
    EXPECT_EQ(scenario.cluster, (folder / "cluster.json").string());
}

TEST(Scenario, APresetsNameWinsOverAFileOfThatName) {
    const testing::TemporaryDirectory folder;
    folder.write("demo", "not a model");
    const auto file = folder.write("scenario.json", R"({"model":"demo"})");
    EXPECT_EQ(loadScenario(file).model, "demo");
}

}  // namespace
}  // namespace ballast
