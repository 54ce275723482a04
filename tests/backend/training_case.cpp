// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/training_case.h"

#include <cmath>
#include <limits>
#include <mutex>

#include "backend/comm/loopback_communicator.h"
#include "core/base/check.h"
#include "core/sharding/sharder.h"
#include "tests/support/builders.h"

namespace ballast::backend::testing {

namespace {

class PatternTokens final : public TokenSource {
  public:
    explicit PatternTokens(std::int64_t vocabulary) : vocabulary_(vocabulary) {}
    bool fromFile() const override { return false; }
    void read(std::int64_t document, std::int64_t begin, std::span<std::int64_t> out) const override {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = tokenAt(document, begin + static_cast<std::int64_t>(i), vocabulary_);
    }

  private:
    std::int64_t vocabulary_;
};

}  // namespace

std::int64_t tokenAt(std::int64_t document, std::int64_t offset, std::int64_t vocabulary) {
    std::uint64_t mixed = static_cast<std::uint64_t>(document) * 0x9E3779B97F4A7C15ULL +
                          static_cast<std::uint64_t>(offset) * 0xBF58476D1CE4E5B9ULL;
    mixed ^= mixed >> 29;
    mixed *= 0x94D049BB133111EBULL;
    // The upper third of the vocabulary never occurs, so that some gradients are exactly zero.
    return static_cast<std::int64_t>((mixed >> 33) % static_cast<std::uint64_t>(vocabulary * 2 / 3));
}

std::unique_ptr<TokenSource> patternTokens(std::int64_t vocabulary) {
    return std::make_unique<PatternTokens>(vocabulary);
}

ModelSpec smallModel() {
    ModelSpec model;
    model.name = "small";
    model.hiddenSize = 32;
    model.layers = 4;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 8;
    model.intermediateSize = 48;
    model.vocabularySize = 96;
    return model;
}

TrainingCase smallCase(const Layout& layout, int steps) {
    TrainingCase small;
    small.model = smallModel();
    small.layout = layout;
    small.training.initStd = 0.2;  // larger than usual: attention must matter in a model this small
    for (int step = 0; step < steps; ++step)
        small.steps.push_back({{37, 20, 1, 6}, {96}, {5, 5, 3, 5, 30}, {2, 50}});
    return small;
}

Scenario scenarioOf(const TrainingCase& trainingCase) {
    Scenario scenario = ballast::testing::tinyScenario();
    scenario.layout = trainingCase.layout;
    scenario.training = trainingCase.training;
    scenario.sharding = {trainingCase.sharding, trainingCase.exchange};
    return scenario;
}

CostModel costOf(const TrainingCase& trainingCase) {
    return CostModel(scenarioOf(trainingCase), trainingCase.model, ballast::testing::tinyCluster());
}

std::vector<PlanStep> planOf(const TrainingCase& trainingCase, const CostModel& cost) {
    const auto sharder = makeSharder(trainingCase.sharding, trainingCase.layout.cp, cost);
    std::vector<PlanStep> plan;
    std::int64_t document = 0;
    for (std::size_t step = 0; step < trainingCase.steps.size(); ++step) {
        PlanStep& planned = plan.emplace_back();
        planned.step = static_cast<std::int64_t>(step);
        std::vector<std::vector<PlannedMicroBatch>> byDp(static_cast<std::size_t>(trainingCase.layout.dp));
        const StepLengths& lengths = trainingCase.steps[step];
        for (std::size_t j = 0; j < lengths.size(); ++j) {
            PlannedMicroBatch microBatch;
            std::int64_t begin = 0;
            for (std::int64_t length : lengths[j]) {
                microBatch.batch.pieces.push_back({document, begin, begin + length, 0, 0});
                microBatch.batch.tokens += length;
                if (trainingCase.sameDocument)
                    begin += length;
                else
                    ++document;
            }
            if (trainingCase.sameDocument || trainingCase.numberMicroBatches)
                ++document;
            auto& pipeline = byDp[j % byDp.size()];
            microBatch.batch.dp = static_cast<int>(j % byDp.size());
            microBatch.batch.index = static_cast<int>(pipeline.size());
            microBatch.sharding = sharder->shard(microBatch.batch.pieces);
            pipeline.push_back(std::move(microBatch));
        }
        for (auto& pipeline : byDp)
            for (auto& microBatch : pipeline)
                planned.microBatches.push_back(std::move(microBatch));
    }
    return plan;
}

TrainingResult trainRank(const TrainingCase& trainingCase, Transport& transport) {
    const Scenario scenario = scenarioOf(trainingCase);
    const CostModel cost = costOf(trainingCase);
    const auto tokens = patternTokens(trainingCase.model.vocabularySize);
    Trainer trainer({scenario, cost, *tokens, trainingCase.clock, trainingCase.delay, true}, transport);
    auto into = [](FloatTensors& tensors) {
        return [&tensors](const TensorSpec& spec, std::span<const float> values) {
            tensors[spec.name].assign(values.begin(), values.end());
        };
    };
    TrainingResult result;
    trainer.gather(Parameters::Kind::Weights, into(result.initialWeights));
    for (const PlanStep& step : planOf(trainingCase, cost)) {
        TrainedStep trained = trainer.run(trainer.prepare(step));
        trainer.gather(Parameters::Kind::Gradients, into(result.gradients.emplace_back()));
        result.reports.push_back(trained.report);
        result.spans.push_back({std::move(trained.spans)});
    }
    trainer.gather(Parameters::Kind::Weights, into(result.finalWeights));
    return result;
}

TrainingResult train(const TrainingCase& trainingCase) {
    std::vector<TrainingResult> ranks(static_cast<std::size_t>(trainingCase.layout.worldSize()));
    runLoopback(trainingCase.layout.worldSize(), [&](Transport& transport) {
        ranks[static_cast<std::size_t>(transport.rank())] = trainRank(trainingCase, transport);
    });
    TrainingResult result = std::move(ranks.front());
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
        for (std::size_t step = 0; step < result.spans.size(); ++step)
            result.spans[step].push_back(std::move(ranks[rank].spans[step].front()));
    return result;
}

double relativeDifference(const std::vector<float>& a, const std::vector<float>& b) {
    BALLAST_CHECK(a.size() == b.size());
    double difference = 0;
    double reference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        reference += std::pow(static_cast<double>(b[i]), 2);
    }
    if (reference == 0)
        return difference == 0 ? 0 : std::numeric_limits<double>::infinity();
    return std::sqrt(difference / reference);
}

WorstDifference worstDifference(const FloatTensors& found, const FloatTensors& expected) {
    BALLAST_CHECK(found.size() == expected.size());
    WorstDifference worst;
    for (const auto& [name, values] : expected) {
        const double difference = relativeDifference(found.at(name), values);
        if (!(difference <= worst.value))  // NaN counts as worst
            worst = {std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference, name};
    }
    return worst;
}

}  // namespace ballast::backend::testing
