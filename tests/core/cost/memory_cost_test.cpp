// SPDX-License-Identifier: Apache-2.0
#include "core/cost/memory_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/builders.h"

namespace ballast {
namespace {

using testing::tileCost;
using testing::tinyCluster;
using testing::tinyModel;
using testing::tinyScenario;

TEST(StageParameters, AddUpToTheModelsOverAllStages) {
    const ModelSpec model = tinyModel();
    for (int pp : {1, 2, 3, 4}) {
        const CostModel cost = tileCost({1, 1, 1, pp});
        std::int64_t sum = 0;
        for (int stage = 0; stage < pp; ++stage)
            sum += stageParameters(cost, stage, 0);
        EXPECT_EQ(sum, model.parameters());
    }
}

TEST(StageParameters, TensorParallelRanksRepeatOnlyTheNorms) {
    const CostModel cost = tileCost({2, 1, 1, 1});
    const std::int64_t norms = tinyModel().hiddenSize * (2 * tinyModel().layers + 1);
    EXPECT_EQ(2 * stageParameters(cost, 0, 0), tinyModel().parameters() + norms);
}

TEST(StageParameters, ATiedHeadIsHeldByBothEndsOfThePipeline) {
    ModelSpec model = tinyModel();
    model.tiedEmbeddings = true;
    Scenario scenario = tinyScenario();
    scenario.layout = {1, 1, 1, 1};
    const CostModel one(scenario, model, tinyCluster());
    EXPECT_EQ(stageParameters(one, 0, 0), model.parameters());
    scenario.layout.pp = 2;
    const CostModel two(scenario, model, tinyCluster());
    EXPECT_EQ(stageParameters(two, 0, 0) + stageParameters(two, 1, 0),
              model.parameters() + model.vocabularySize * model.hiddenSize);
}

TEST(StageMemory, OfTheTinyModelIsTheSumDoneByHand) {
    // fp32, one stage: 4 layers of q 64x64, k and v 64x32, o 64x64, three 64x128, two norms of 64; embedding
    // and head 256x64; final norm.
    const std::int64_t parameters = 4 * (4096 + 2 * 2048 + 4096 + 3 * 8192 + 128) + 2 * 16384 + 64;
    const CostModel cost = tileCost({1, 2, 1, 1});
    const MemoryBreakdown memory = stageMemory(cost, 0, 100, 100, 200);
    EXPECT_EQ(memory.weights, Bytes(4 * parameters));
    EXPECT_EQ(memory.gradients, Bytes(4 * parameters));
    EXPECT_EQ(memory.optimizer, Bytes(8 * parameters));
    // A layer keeps for a token: input, norm, middle, norm (64 each); q and output (64), k and v (32); gate,
    // up, product (128); 4 log sums; all floats.
    EXPECT_EQ(memory.activations, Bytes(100 * 4 * 4 * (4 * 64 + 2 * 64 + 2 * 32 + 3 * 128 + 4)));
    // K, V and their gradients of the whole micro-batch, one layer.
    EXPECT_EQ(memory.gatheredKeyValues, Bytes(200 * 4 * 32 * 4));
    EXPECT_EQ(memory.logits, Bytes(100 * 256 * 4));
    EXPECT_EQ(memory.total(), memory.weights + memory.gradients + memory.optimizer + memory.activations +
                                  memory.gatheredKeyValues + memory.logits);
}

TEST(StageMemory, OfBf16IsEighteenBytesAParameterAndThirtyFourHiddensATokenOfLlama3) {
    Scenario scenario;
    scenario.layout = {1, 1, 1, 1};
    const ModelSpec model = loadModelSpec("llama3-8b");
    const CostModel cost(scenario, model, loadClusterSpec("h100-dgx"));
    const MemoryBreakdown memory = stageMemory(cost, 0, 1, 1, 1);
    EXPECT_EQ(memory.weights + memory.gradients + memory.optimizer, Bytes(18 * model.parameters()));
    const double perLayer = static_cast<double>(memory.activations.value()) / 32;
    EXPECT_NEAR(perLayer, 34.0 * 4096, 0.05 * 4096);
}

TEST(StageMemory, LogitsAreOnTheLastStageAndGatheredKeysOnlyWithContextParallelism) {
    const CostModel cost = tileCost({1, 1, 1, 2});
    EXPECT_EQ(stageMemory(cost, 0, 10, 10, 10).logits, Bytes(0));
    EXPECT_EQ(stageMemory(cost, 1, 10, 10, 10).logits, Bytes(10 * 256 * 4));
    EXPECT_EQ(stageMemory(cost, 0, 10, 10, 10).gatheredKeyValues, Bytes(0));
}

TEST(LargestMicroBatch, IsTheLastLengthThatFitsOnEveryStage) {
    Scenario scenario = tinyScenario();
    scenario.layout = {1, 2, 1, 2};
    scenario.microBatches = 3;
    ClusterSpec cluster = tinyCluster();
    cluster.memoryGiB = 8.0 / 1024;
    const CostModel cost(scenario, tinyModel(), cluster);
    const double limit = cluster.memoryGiB * 1024 * 1024 * 1024;
    std::int64_t last = 0;
    for (std::int64_t length = 1; length <= 2 * scenario.lengths.window; ++length) {
        const std::int64_t onRank = (length + 1) / 2;
        // Two stages: the first holds two micro-batches in flight, the second one.
        const double first =
            static_cast<double>(stageMemory(cost, 0, 2 * onRank, onRank, length).total().value());
        const double second =
            static_cast<double>(stageMemory(cost, 1, onRank, onRank, length).total().value());
        if (first <= limit && second <= limit)
            last = length;
    }
    ASSERT_GT(last, 0);
    ASSERT_LT(last, 2 * scenario.lengths.window) << "the case must be one that memory decides";
    EXPECT_EQ(largestMicroBatch(cost, scenario), last);
}

TEST(LargestMicroBatch, IsAtMostTwoWindows) {
    const Scenario scenario = tinyScenario();
    EXPECT_EQ(largestMicroBatch(CostModel(scenario, tinyModel(), tinyCluster()), scenario), 2048);
}

TEST(LargestMicroBatch, TheDefaultScenarioHasRoomForLongerMicroBatchesThanItsWindow) {
    const Scenario scenario;
    const CostModel cost(scenario, loadModelSpec(scenario.model), loadClusterSpec(scenario.cluster));
    EXPECT_GE(largestMicroBatch(cost, scenario), 163840);
}

TEST(LargestMicroBatch, NamesTheStageWhenNothingFits) {
    Scenario scenario = tinyScenario();
    ClusterSpec cluster = tinyCluster();
    cluster.memoryGiB = 1e-4;
    const CostModel cost(scenario, tinyModel(), cluster);
    try {
        largestMicroBatch(cost, scenario);
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("stage 0 needs"));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("cluster tiny has 0.0001 GiB"));
    }
}

}  // namespace
}  // namespace ballast
