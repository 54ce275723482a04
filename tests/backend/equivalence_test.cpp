// SPDX-License-Identifier: Apache-2.0
// The one-rank trainer against an independent reference, then every layout against the one-rank trainer.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/backend/reference_model.h"
#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

/// Relative 2-norm per tensor, fp32 (trainer.md, "What proves it").
constexpr double kFirstStep = 1e-5;
constexpr double kLaterSteps = 1e-4;

Tensors inDouble(const FloatTensors& tensors) {
    Tensors converted;
    for (const auto& [name, values] : tensors)
        converted[name].assign(values.begin(), values.end());
    return converted;
}

/// The reference gets one piece at a time, unpacked, and no layout.
ReferenceResult referenceOf(const TrainingCase& trainingCase, const FloatTensors& weights) {
    ReferenceResult result;
    const CostModel cost = costOf(trainingCase);
    const std::vector<PlanStep> plan = planOf(trainingCase, cost);
    for (const PlannedMicroBatch& microBatch : plan.front().microBatches)
        for (const Piece& piece : microBatch.batch.pieces) {
            std::vector<std::int64_t> ids;
            for (std::int64_t at = piece.begin; at < piece.end; ++at)
                ids.push_back(tokenAt(piece.document, at, trainingCase.model.vocabularySize));
            addReferencePiece(trainingCase.model, inDouble(weights), ids, result);
        }
    return result;
}

void expectReference(const TrainingCase& trainingCase) {
    const TrainingResult trained = train(trainingCase);
    const ReferenceResult reference = referenceOf(trainingCase, trained.initialWeights);
    ASSERT_EQ(trained.reports[0].targets, reference.targets);
    EXPECT_NEAR(trained.reports[0].lossSum / reference.lossSum, 1.0, kFirstStep);
    FloatTensors normalised;
    double squares = 0;
    for (const auto& [name, values] : reference.gradients)
        for (double value : values) {
            const double gradient = value / static_cast<double>(reference.targets);
            normalised[name].push_back(static_cast<float>(gradient));
            squares += gradient * gradient;
        }
    const WorstDifference worst = worstDifference(trained.gradients[0], normalised);
    EXPECT_LE(worst.value, kFirstStep) << worst.tensor;
    EXPECT_NEAR(trained.reports[0].gradientNorm / std::sqrt(squares), 1.0, kFirstStep);
}

TEST(Equivalence, PackedOneRankRunHasTheLossAndGradientsOfPlainAttentionPieceByPiece) {
    expectReference(smallCase({1, 1, 1, 1}));
}

TEST(Equivalence, TiedHeadAddsItsGradientToTheEmbedding) {
    TrainingCase tied = smallCase({1, 1, 1, 1});
    tied.model.tiedEmbeddings = true;
    expectReference(tied);
}

TEST(Equivalence, PieceOfACutDocumentIsTrainedAsADocumentOfItsOwn) {
    TrainingCase cut = smallCase({1, 2, 1, 1});
    cut.sameDocument = true;
    expectReference(cut);
}

/// The packed one-rank run, trained once for all layouts.
const TrainingResult& oneRank(bool tied, int steps) {
    static std::map<std::pair<bool, int>, TrainingResult> known;
    auto found = known.find({tied, steps});
    if (found == known.end()) {
        TrainingCase one = smallCase({1, 1, 1, 1}, steps);
        one.model.tiedEmbeddings = tied;
        found = known.emplace(std::pair(tied, steps), train(one)).first;
    }
    return found->second;
}

void expectSame(const TrainingCase& trainingCase) {
    const TrainingResult& reference =
        oneRank(trainingCase.model.tiedEmbeddings, static_cast<int>(trainingCase.steps.size()));
    const TrainingResult trained = train(trainingCase);
    EXPECT_EQ(trained.initialWeights, reference.initialWeights);
    for (std::size_t step = 0; step < trained.reports.size(); ++step) {
        const double tolerance = step == 0 ? kFirstStep : kLaterSteps;
        EXPECT_NEAR(trained.loss(step) / reference.loss(step), 1.0, tolerance) << "step " << step;
        const WorstDifference worst = worstDifference(trained.gradients[step], reference.gradients[step]);
        EXPECT_LE(worst.value, tolerance) << "step " << step << ", " << worst.tensor;
    }
}

struct LayoutCase {
    Layout layout;
    std::string sharding;
    std::string exchange = "all-gather";
};

std::string nameOf(const ::testing::TestParamInfo<LayoutCase>& info) {
    const Layout& layout = info.param.layout;
    std::string name = "tp" + std::to_string(layout.tp) + "cp" + std::to_string(layout.cp) + "dp" +
                       std::to_string(layout.dp) + "pp" + std::to_string(layout.pp);
    for (char letter : info.param.sharding + info.param.exchange)
        if (letter != '-')
            name += letter;
    return name;
}

std::vector<LayoutCase> layouts() {
    std::vector<LayoutCase> cases;
    for (const char* sharding : {"per-sequence", "per-document"}) {
        for (int bits = 0; bits < 16; ++bits)
            cases.push_back(
                {{1 + (bits & 1), 1 + (bits >> 1 & 1), 1 + (bits >> 2 & 1), 1 + (bits >> 3 & 1)}, sharding});
        cases.push_back({{1, 4, 1, 1}, sharding});
        cases.push_back({{1, 1, 1, 4}, sharding});
        cases.push_back({{2, 4, 1, 4}, sharding});
    }
    for (const char* sharding : {"mixed", "striped", "contiguous"})
        for (const Layout& layout : {Layout{1, 2, 1, 1}, Layout{1, 4, 1, 1}, Layout{2, 2, 2, 2}})
            cases.push_back({layout, sharding});
    for (const char* sharding : {"per-sequence", "per-document", "mixed", "striped", "contiguous"})
        for (const Layout& layout : {Layout{1, 2, 1, 1}, Layout{1, 4, 1, 1}, Layout{2, 4, 1, 2}})
            cases.push_back({layout, sharding, "need-based"});
    return cases;
}

class EveryLayout : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(EveryLayout, TrainsAsOneRankDoes) {
    TrainingCase trainingCase = smallCase(GetParam().layout, 4);
    trainingCase.sharding = GetParam().sharding;
    trainingCase.exchange = GetParam().exchange;
    expectSame(trainingCase);
}

INSTANTIATE_TEST_SUITE_P(Equivalence, EveryLayout, ::testing::ValuesIn(layouts()), nameOf);

TEST(Equivalence, ExchangeOfWhatIsNeededTrainsToTheBitAsGatheringAll) {
    // Not mixed: it looks at the exchange, so the two would train different slices.
    for (const char* sharding : {"per-sequence", "per-document", "striped", "contiguous"})
        for (const Layout& layout : {Layout{1, 2, 1, 2}, Layout{1, 4, 1, 1}, Layout{2, 2, 1, 1}}) {
            TrainingCase gathered = smallCase(layout, 2);
            gathered.sharding = sharding;
            TrainingCase needed = gathered;
            needed.exchange = "need-based";
            const TrainingResult all = train(gathered);
            const TrainingResult some = train(needed);
            EXPECT_EQ(all.gradients, some.gradients) << sharding;
            EXPECT_EQ(all.finalWeights, some.finalWeights) << sharding;
        }
}

TEST(Equivalence, TiedEmbeddingIsOneTensorOnTwoStages) {
    for (const Layout& layout :
         {Layout{1, 1, 1, 2}, Layout{2, 2, 1, 2}, Layout{1, 1, 2, 4}, Layout{2, 1, 1, 1}}) {
        TrainingCase tied = smallCase(layout, 3);
        tied.model.tiedEmbeddings = true;
        expectSame(tied);
    }
}

TEST(Equivalence, RowsOfTokensThatNeverOccurHaveExactlyNoGradient) {
    const TrainingResult trained = train(smallCase({2, 2, 1, 2}));
    const std::vector<float>& gradient = trained.gradients[0].at("model.embed_tokens.weight");
    const std::size_t hidden = static_cast<std::size_t>(smallModel().hiddenSize);
    for (std::size_t i = 64 * hidden; i < gradient.size(); ++i)
        ASSERT_EQ(gradient[i], 0.0F);
}

// meta-pytorch/torchtune PR 1875: a mean of means weights short packs too much.
TEST(Equivalence, LossAndGradientsDoNotDependOnThePlan) {
    TrainingCase together = smallCase({1, 1, 1, 1});
    together.steps = {{{2, 101}}};  // documents 0 and 1, with 1 and 100 targets
    const TrainingResult reference = train(together);
    TrainingCase apart = smallCase({1, 1, 2, 2});
    apart.steps = {{{2}, {101}}};
    apart.numberMicroBatches = false;
    TrainingCase sliced = smallCase({1, 2, 1, 1});
    sliced.steps = together.steps;
    for (const TrainingCase& other : {apart, sliced}) {
        const TrainingResult trained = train(other);
        EXPECT_EQ(trained.reports[0].targets, 1 + 100);
        EXPECT_NEAR(trained.loss(0) / reference.loss(0), 1.0, 1e-6);
        EXPECT_LE(worstDifference(trained.gradients[0], reference.gradients[0]).value, kFirstStep);
    }
}

TEST(Equivalence, EmptyMicroBatchesAndPipelinesWithoutWorkTakePartInTheStep) {
    TrainingCase sparse = smallCase({1, 2, 2, 4});
    sparse.steps = {{{70, 3}, {}, {1, 1}}};  // dp 1 has nothing, dp 0 fewer micro-batches than stages
    TrainingCase one = sparse;
    one.layout = {1, 1, 1, 1};
    const TrainingResult trained = train(sparse);
    const TrainingResult reference = train(one);
    EXPECT_NEAR(trained.loss(0) / reference.loss(0), 1.0, kFirstStep);
    EXPECT_LE(worstDifference(trained.gradients[0], reference.gradients[0]).value, kFirstStep);
}

TEST(Equivalence, StepWithoutTargetsChangesNothing) {
    TrainingCase nothing = smallCase({1, 2, 1, 2});
    nothing.steps = {{{1, 1, 1}, {1}}};
    const TrainingResult trained = train(nothing);
    EXPECT_EQ(trained.reports[0].targets, 0);
    EXPECT_EQ(trained.reports[0].lossSum, 0.0);
    EXPECT_TRUE(std::isnan(trained.reports[0].gradientNorm));
    EXPECT_EQ(trained.finalWeights, trained.initialWeights);
}

TEST(Equivalence, DocumentHasTheSameLossWhateverItIsPackedWith) {
    auto lossSum = [](const StepLengths& lengths) {
        TrainingCase trainingCase = smallCase({1, 1, 1, 1});
        trainingCase.steps = {lengths};
        return train(trainingCase).reports[0].lossSum;
    };
    // Document 0 alone, document 1 with a neighbour that has no target, and both in one micro-batch.
    EXPECT_NEAR((lossSum({{50}}) + lossSum({{1, 30}})) / lossSum({{50, 30}}), 1.0, 1e-6);
}

TEST(Equivalence, LossFallsOverAShortRun) {
    TrainingCase longer = smallCase({1, 1, 1, 1}, 30);
    longer.training.learningRate = 3e-3;
    const TrainingResult trained = train(longer);
    EXPECT_LT(trained.loss(29), 0.9 * trained.loss(0));
}

}  // namespace
}  // namespace ballast::backend::testing
