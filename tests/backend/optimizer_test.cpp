// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

TrainingOptions options() {
    TrainingOptions training;
    training.learningRate = 1e-3;
    training.minLearningRate = 1e-4;
    training.warmupSteps = 10;
    training.totalSteps = 110;
    return training;
}

TEST(LearningRate, RisesLinearlyFromOneWarmupthToThePeak) {
    EXPECT_DOUBLE_EQ(learningRate(options(), 0), 1e-4);
    EXPECT_DOUBLE_EQ(learningRate(options(), 4), 5e-4);
    EXPECT_DOUBLE_EQ(learningRate(options(), 9), 1e-3);
}

TEST(LearningRate, FallsAsHalfACosineAndStaysAtTheMinimum) {
    EXPECT_DOUBLE_EQ(learningRate(options(), 10), 1e-3);
    EXPECT_NEAR(learningRate(options(), 60), (1e-3 + 1e-4) / 2, 1e-12);
    EXPECT_DOUBLE_EQ(learningRate(options(), 110), 1e-4);
    EXPECT_DOUBLE_EQ(learningRate(options(), 100'000), 1e-4);
}

TEST(LearningRate, WithoutWarmupStartsAtThePeak) {
    TrainingOptions training = options();
    training.warmupSteps = 0;
    EXPECT_DOUBLE_EQ(learningRate(training, 0), 1e-3);
}

TEST(Clipping, LeavesSmallNormsAloneAndScalesLargeOnesToTheLimit) {
    TrainingOptions training = options();
    training.clipNorm = 2;
    EXPECT_EQ(clipScale(training, 0.5), 1.0);
    EXPECT_DOUBLE_EQ(clipScale(training, 8), 2 / (8 + 1e-6));
}

/// The update of trainer.md by the textbook, in double, from the gradients that the trainer itself reports.
TEST(Optimizer, FirstUpdateIsAdamWWithDecayOnMatricesOnly) {
    TrainingCase trainingCase = smallCase({1, 1, 1, 1});
    trainingCase.training.clipNorm = 0.05;
    trainingCase.training.weightDecay = 0.3;
    trainingCase.training.learningRate = 1e-2;
    trainingCase.training.warmupSteps = 0;
    const TrainingResult trained = train(trainingCase);
    const double rate = trained.reports[0].learningRate;
    ASSERT_DOUBLE_EQ(rate, 1e-2);
    ASSERT_GT(trained.reports[0].gradientNorm, 0.05);
    const double scale = 0.05 / (trained.reports[0].gradientNorm + 1e-6);
    for (const auto& [name, weights] : trained.initialWeights) {
        const bool isNorm = name.find("norm") != std::string::npos;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double gradient = scale * static_cast<double>(trained.gradients[0].at(name)[i]);
            // Bias correction turns the first moments into the gradient and its square.
            const double moved = gradient / (std::abs(gradient) + trainingCase.training.epsilon);
            const double decay = isNorm ? 0 : 0.3 * static_cast<double>(weights[i]);
            const double expected = static_cast<double>(weights[i]) - rate * (moved + decay);
            ASSERT_NEAR(trained.finalWeights.at(name)[i], expected, 3e-5) << name << " " << i;
        }
    }
}

}  // namespace
}  // namespace ballast::backend::testing
