// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "packing_setup.h"

namespace ballast::testing {
namespace {

struct Range {
    std::int64_t document;
    std::int64_t begin;
    std::int64_t end;

    auto operator<=>(const Range&) const = default;
};

/// Every token of every document exactly once in a micro-batch or a discard, knowing only the lengths.
void expectEveryTokenOnce(const PackedSource& packed, const std::vector<std::int64_t>& lengths) {
    std::vector<Range> ranges;
    for (const PackedStep& step : packed.steps)
        for (const MicroBatch& microBatch : step.microBatches) {
            std::int64_t tokens = 0;
            for (const Piece& piece : microBatch.pieces) {
                ranges.push_back({piece.document, piece.begin, piece.end});
                tokens += piece.end - piece.begin;
            }
            EXPECT_EQ(microBatch.tokens, tokens);
        }
    for (const Discard& discard : packed.discards) {
        EXPECT_FALSE(discard.reason.empty());
        ranges.push_back({discard.document, discard.begin, discard.end});
    }
    std::sort(ranges.begin(), ranges.end());
    std::size_t next = 0;
    std::int64_t empty = 0;
    for (std::size_t document = 0; document < lengths.size(); ++document) {
        empty += lengths[document] == 0 ? 1 : 0;
        std::int64_t at = 0;
        while (at < lengths[document]) {
            ASSERT_LT(next, ranges.size()) << "document " << document << " from token " << at;
            ASSERT_EQ(ranges[next].document, static_cast<std::int64_t>(document)) << "from token " << at;
            ASSERT_EQ(ranges[next].begin, at) << "document " << document;
            ASSERT_GT(ranges[next].end, at) << "document " << document;
            at = ranges[next++].end;
        }
        ASSERT_EQ(at, lengths[document]) << "document " << document;
    }
    EXPECT_EQ(next, ranges.size()) << "tokens of no document, or twice";
    EXPECT_EQ(packed.empty, empty);
}

/// Steps are numbered without gaps, full ones first, each has N micro-batches in order within the limit, and
/// nothing waits at the end.
void expectWellFormedSteps(const PackedSource& packed, const PackingCase& given, std::int64_t limit) {
    StepKind last = StepKind::Full;
    for (std::size_t number = 0; number < packed.steps.size(); ++number) {
        const PackedStep& step = packed.steps[number];
        EXPECT_EQ(step.step, static_cast<std::int64_t>(number));
        EXPECT_GE(static_cast<int>(step.kind), static_cast<int>(last));
        last = step.kind;
        ASSERT_EQ(step.microBatches.size(), static_cast<std::size_t>(given.dp * given.microBatches));
        std::size_t pieces = 0;
        for (std::size_t i = 0; i < step.microBatches.size(); ++i) {
            EXPECT_EQ(step.microBatches[i].dp, static_cast<int>(i) / given.microBatches);
            EXPECT_EQ(step.microBatches[i].index, static_cast<int>(i) % given.microBatches);
            EXPECT_LE(step.microBatches[i].tokens, limit);
            pieces += step.microBatches[i].pieces.size();
        }
        EXPECT_TRUE(step.kind != StepKind::Drain || pieces > 0) << "a drain step without work";
    }
    if (!packed.steps.empty()) {
        const Carried& carried = packed.steps.back().carried;
        EXPECT_EQ(carried.documents + carried.queuedTokens + carried.remainedTokens, 0);
    }
}

struct Strategy {
    std::string name;
    std::vector<std::int64_t> sixteenths;  ///< thresholds
    int batches = 1;
};

const std::vector<Strategy> kStrategies = {
    {"sequential", {}},     {"greedy", {}}, {"greedy", {}, 3}, {"first-fit", {}}, {"best-fit", {}},
    {"karmarkar-karp", {}}, {"wlb", {}},    {"wlb", {8}},      {"wlb", {4, 12}},  {"wlb", {1, 4, 14}}};

/// May be longer than the window, up to max_tokens.
bool isVariableLength(const std::string& strategy) {
    return strategy == "wlb" || strategy == "karmarkar-karp";
}

void checkConservation(const std::string& name, const std::vector<std::int64_t>& lengths,
                       std::int64_t window) {
    for (const Strategy& strategy : kStrategies)
        for (auto [dp, microBatches] : {std::pair(1, 4), {2, 2}, {3, 1}})
            for (OverlongPolicy overlong :
                 {OverlongPolicy::Split, OverlongPolicy::Truncate, OverlongPolicy::Drop})
                for (CutPolicy cut : {CutPolicy::Window, CutPolicy::None}) {
                    if (strategy.name == "sequential" && cut == CutPolicy::None)
                        continue;
                    SCOPED_TRACE(name + ", " + strategy.name + ", dp " + std::to_string(dp) + ", overlong " +
                                 std::to_string(static_cast<int>(overlong)) + ", cut " +
                                 std::to_string(static_cast<int>(cut)));
                    PackingCase given{.strategy = strategy.name,
                                      .window = window,
                                      .dp = dp,
                                      .microBatches = microBatches,
                                      .batches = strategy.batches};
                    for (std::int64_t sixteenths : strategy.sixteenths)
                        given.thresholds.push_back(window * sixteenths / 16);
                    given.maxTokens = window + window / 4;
                    Scenario scenario = scenarioOf(given);
                    scenario.lengths.overlong = overlong;
                    scenario.lengths.cut = cut;
                    scenario.lengths.order = DocumentOrder::Shuffled;
                    CostModel cost = costOf(scenario);
                    PackedSource packed =
                        packSource(scenario, cost, GivenLengths(lengths), constantsOf(given));
                    expectEveryTokenOnce(packed, lengths);
                    expectWellFormedSteps(packed, given,
                                          isVariableLength(strategy.name) ? given.maxTokens : window);
                }
}

TEST(PackingConservation, HoldsForHostileLengths) {
    for (const NamedLengths& hostile : hostileLengths(64))
        checkConservation(hostile.name, hostile.lengths, 64);
}

TEST(PackingConservation, HoldsForRandomLengths) {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        checkConservation("seed " + std::to_string(seed), randomLengths(seed, 300, 128), 128);
}

TEST(PackingConservation, HoldsForAlignedLengthsAndAFewDocumentsAMicroBatch) {
    for (const Strategy& strategy : kStrategies) {
        if (strategy.name == "sequential")
            continue;
        SCOPED_TRACE(strategy.name);
        PackingCase given{
            .strategy = strategy.name, .window = 128, .dp = 2, .microBatches = 2, .maxTokens = 160};
        Scenario scenario = scenarioOf(given);
        scenario.packing.align = 16;
        scenario.packing.maxDocuments = 3;
        CostModel cost = costOf(scenario);
        std::vector<std::int64_t> lengths = randomLengths(9, 300, given.window);
        PackedSource packed = packSource(scenario, cost, GivenLengths(lengths), constantsOf(given));
        expectEveryTokenOnce(packed, lengths);
        for (const PackedStep& step : packed.steps)
            for (const MicroBatch& microBatch : step.microBatches) {
                std::int64_t aligned = 0;
                for (const Piece& piece : microBatch.pieces)
                    aligned += (piece.length() + 15) / 16 * 16;
                EXPECT_LE(aligned, isVariableLength(strategy.name) ? 160 : 128);
                EXPECT_LE(microBatch.pieces.size(), 3u);
            }
    }
}

TEST(PackingConservation, HoldsForTheSolver) {
    for (const NamedLengths& hostile : hostileLengths(64)) {
        if (hostile.lengths.size() > 100)
            continue;  // a program run a batch; larger sets are the other packers'
        PackingCase given{.strategy = "solver", .window = 64, .dp = 2, .microBatches = 2, .batches = 2};
        Scenario scenario = scenarioOf(given);
        scenario.packing.timeLimitSeconds = 0.2;
        CostModel cost = costOf(scenario);
        PackedSource packed = packSource(scenario, cost, GivenLengths(hostile.lengths), constantsOf(given));
        SCOPED_TRACE(hostile.name);
        expectEveryTokenOnce(packed, hostile.lengths);
        expectWellFormedSteps(packed, given, 64);
    }
}

TEST(PackingConservation, HoldsForTheTileCost) {
    for (const Strategy& strategy : kStrategies) {
        PackingCase given{.strategy = strategy.name,
                          .window = 512,
                          .dp = 2,
                          .microBatches = 2,
                          .maxTokens = 640,
                          .batches = strategy.batches};
        for (std::int64_t sixteenths : strategy.sixteenths)
            given.thresholds.push_back(given.window * sixteenths / 16);
        Scenario scenario = scenarioOf(given);
        scenario.cost = {};
        CostModel cost = costOf(scenario);
        std::vector<std::int64_t> lengths = randomLengths(5, 2000, given.window);
        PackedSource packed = packSource(scenario, cost, GivenLengths(lengths), constantsOf(given));
        expectEveryTokenOnce(packed, lengths);
        expectWellFormedSteps(packed, given, isVariableLength(strategy.name) ? 640 : 512);
    }
}

TEST(PackingConservation, EveryEpochTrainsEveryTokenOnceMore) {
    PackingCase given{.window = 64, .dp = 2, .microBatches = 2, .thresholds = {16, 48}};
    Scenario scenario = scenarioOf(given);
    scenario.lengths.epochs = 3;
    scenario.lengths.order = DocumentOrder::Shuffled;
    CostModel cost = costOf(scenario);
    std::vector<std::int64_t> lengths = randomLengths(1, 200, 64);
    PackedSource packed = packSource(scenario, cost, GivenLengths(lengths), constantsOf(given));
    std::vector<std::vector<int>> times(lengths.size());
    for (std::size_t document = 0; document < lengths.size(); ++document)
        times[document].resize(static_cast<std::size_t>(lengths[document]));
    for (const PackedStep& step : packed.steps)
        for (const MicroBatch& microBatch : step.microBatches)
            for (const Piece& piece : microBatch.pieces)
                for (std::int64_t token = piece.begin; token < piece.end; ++token)
                    ++times[static_cast<std::size_t>(piece.document)][static_cast<std::size_t>(token)];
    for (const std::vector<int>& document : times)
        EXPECT_TRUE(std::all_of(document.begin(), document.end(), [](int count) { return count == 3; }));
}

TEST(PackingConservation, WhatIsCarriedIsWhatArrivedAndWasNotTrained) {
    PackingCase given{.window = 64, .microBatches = 3, .thresholds = {16, 48}, .maxTokens = 70};
    Scenario scenario = scenarioOf(given);
    CostModel cost = costOf(scenario);
    GivenLengths source(randomLengths(9, 400, 64));
    DocumentStream stream(source, scenario.lengths, 3);
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
    std::int64_t waiting = 0;
    while (std::optional<GlobalBatch> batch = stream.next()) {
        waiting += batch->tokens;
        PackedStep step = packer->pack(*batch)[0];
        for (const MicroBatch& microBatch : step.microBatches)
            waiting -= microBatch.tokens;
        EXPECT_EQ(step.carried.queuedTokens + step.carried.remainedTokens, waiting);
        std::vector<Piece> pieces = packer->waiting();
        EXPECT_EQ(step.carried.documents, static_cast<std::int64_t>(pieces.size()));
        std::int64_t tokens = 0;
        for (const Piece& piece : pieces)
            tokens += piece.length();
        EXPECT_EQ(tokens, waiting);
    }
}

TEST(Packers, GiveTheSameStepsForTheSameSeed) {
    for (const Strategy& strategy : kStrategies) {
        PackingCase given{
            .strategy = strategy.name, .window = 64, .dp = 2, .microBatches = 2, .batches = strategy.batches};
        Scenario scenario = scenarioOf(given);
        scenario.lengths.order = DocumentOrder::Shuffled;
        CostModel cost = costOf(scenario);
        GivenLengths source(randomLengths(2, 300, 64));
        PackedSource once = packSource(scenario, cost, source, constantsOf(given));
        PackedSource again = packSource(scenario, cost, source, constantsOf(given));
        ASSERT_EQ(once.steps.size(), again.steps.size());
        for (std::size_t step = 0; step < once.steps.size(); ++step)
            for (std::size_t i = 0; i < once.steps[step].microBatches.size(); ++i)
                EXPECT_EQ(once.steps[step].microBatches[i].pieces, again.steps[step].microBatches[i].pieces);
    }
}

}  // namespace
}  // namespace ballast::testing
