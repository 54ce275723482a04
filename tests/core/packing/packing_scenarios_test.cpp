// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "packing_scenario.h"

namespace ballast::testing {
namespace {

std::string picture(const std::vector<std::int64_t>& lengths) {
    std::string text;
    for (std::int64_t length : lengths)
        text += (text.empty() ? "" : " ") + std::to_string(length);
    return "[" + text + "]";
}

std::string picture(const std::vector<std::vector<std::int64_t>>& microBatches,
                    const std::vector<std::int64_t>& waiting) {
    std::string text;
    for (const std::vector<std::int64_t>& lengths : microBatches)
        text += picture(lengths) + " ";
    return waiting.empty() ? text : text + "waiting " + picture(waiting);
}

std::string picture(const PackedStep& step, const std::vector<Piece>& waiting) {
    std::vector<std::int64_t> lengths;
    for (const Piece& piece : waiting)
        lengths.push_back(piece.length());
    return picture(lengthsOf(step), lengths);
}

std::vector<std::string> picturesOf(const PackingScenario& given) {
    Scenario scenario = scenarioOf(given.packingCase);
    CostModel cost = costOf(scenario);
    GivenLengths source(given.lengths);
    DocumentStream stream(source, scenario.lengths, scenario.microBatchesPerStep());
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given.packingCase)});
    std::vector<std::string> pictures;
    while (std::optional<GlobalBatch> batch = stream.next()) {
        for (const PackedStep& step : packer->pack(*batch))
            pictures.push_back(picture(step, packer->waiting()));
        if (given.firstStepOnly)
            return pictures;
    }
    while (std::optional<PackedStep> step = packer->drain())
        pictures.push_back(picture(*step, packer->waiting()));
    return pictures;
}

TEST(PackingScenarios, LookAsDrawn) {
    std::vector<PackingScenario> scenarios =
        readPackingScenarios(std::filesystem::path(BALLAST_TEST_DATA) / "scenarios" / "packing.txt");
    EXPECT_GE(scenarios.size(), 12u);
    for (const PackingScenario& scenario : scenarios) {
        std::vector<std::string> expected;
        for (const ExpectedStep& step : scenario.steps)
            expected.push_back(picture(step.microBatches, step.waiting));
        EXPECT_EQ(picturesOf(scenario), expected)
            << "packing.txt:" << scenario.line << ": " << scenario.title;
    }
}

}  // namespace
}  // namespace ballast::testing
