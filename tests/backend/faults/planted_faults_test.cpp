// SPDX-License-Identifier: Apache-2.0
// Each mistake that trainer.md names must show in the gradients by far more than rounding does.
#include <gtest/gtest.h>

#include "backend/trainer/planted_fault.h"
#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

constexpr double kTolerance = 1e-5;  ///< of the equivalence suite, first step
constexpr double kClearly = 100;     ///< times the tolerance

class PlantedFaults : public ::testing::Test {
  protected:
    ~PlantedFaults() override { plantedFault = PlantedFault::None; }

    static TrainingCase splitDocuments() {
        TrainingCase trainingCase = smallCase({1, 2, 2, 1});
        trainingCase.sharding = "per-document";
        return trainingCase;
    }

    /// Worst gradient of a run with the fault against the one-rank run without it.
    static double differenceWith(PlantedFault fault, const TrainingCase& trainingCase) {
        TrainingCase one = trainingCase;
        one.layout = {1, 1, 1, 1};
        plantedFault = PlantedFault::None;
        const TrainingResult reference = train(one);
        plantedFault = fault;
        const TrainingResult trained = train(trainingCase);
        return worstDifference(trained.gradients[0], reference.gradients[0]).value;
    }
};

TEST_F(PlantedFaults, NoneIsInsideTheTolerance) {
    EXPECT_LE(differenceWith(PlantedFault::None, splitDocuments()), kTolerance);
}

TEST_F(PlantedFaults, KeyVisibleAcrossADocumentBorderTurnsTheSuiteRed) {
    EXPECT_GT(differenceWith(PlantedFault::KeyAcrossBorder, splitDocuments()), kClearly * kTolerance);
    EXPECT_GT(differenceWith(PlantedFault::KeyAcrossBorder, smallCase({1, 1, 1, 1})), kClearly * kTolerance);
}

TEST_F(PlantedFaults, PositionsThatBreakInsideAPieceTurnTheSuiteRed) {
    EXPECT_GT(differenceWith(PlantedFault::PositionsBreakInsidePiece, splitDocuments()),
              kClearly * kTolerance);
}

TEST_F(PlantedFaults, DroppedLastTargetOfASliceTurnsTheSuiteRed) {
    EXPECT_GT(differenceWith(PlantedFault::LastTargetOfSliceDropped, splitDocuments()),
              kClearly * kTolerance);
}

TEST_F(PlantedFaults, GradientsReducedOverDataParallelRanksOnlyTurnTheSuiteRed) {
    EXPECT_GT(differenceWith(PlantedFault::GradientsOverDataOnly, splitDocuments()), kClearly * kTolerance);
}

}  // namespace
}  // namespace ballast::backend::testing
