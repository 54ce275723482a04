// SPDX-License-Identifier: Apache-2.0
//
// Cases that others reported in public, with inputs of ours; the project and issue stand with each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/packing/packing_summary.h"
#include "packing_setup.h"

namespace ballast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::int64_t trainedTokens(const PackedSource& packed) {
    std::int64_t tokens = 0;
    for (const PackedStep& step : packed.steps)
        for (const MicroBatch& microBatch : step.microBatches)
            tokens += microBatch.tokens;
    return tokens;
}

std::int64_t discardedTokens(const PackedSource& packed) {
    std::int64_t tokens = 0;
    for (const Discard& discard : packed.discards)
        tokens += discard.end - discard.begin;
    return tokens;
}

/// huggingface/trl issue 4554, PRs 4632 and 5076: what to do with overlong documents is a choice that loses a
/// counted number of tokens.
TEST(FieldCase, OverlongPoliciesLoseWhatTheySay) {
    struct Loss {
        std::vector<std::int64_t> lengths;
        std::int64_t capacity;
        std::int64_t truncated;
        std::int64_t dropped;
    };
    for (const Loss& loss :
         {Loss{{4, 2, 3, 1}, 3, 1, 4}, Loss{{2, 4, 5, 1}, 1, 8, 11}, Loss{{13, 11}, 10, 4, 24}})
        for (const char* strategy : {"sequential", "greedy", "wlb"}) {
            PackingCase given{.strategy = strategy, .window = loss.capacity};
            Scenario scenario = scenarioOf(given);
            CostModel cost = costOf(scenario);
            GivenLengths source(loss.lengths);
            std::int64_t all = std::accumulate(loss.lengths.begin(), loss.lengths.end(), std::int64_t{0});
            for (auto [policy, lost] : {std::pair(OverlongPolicy::Split, std::int64_t{0}),
                                        {OverlongPolicy::Truncate, loss.truncated},
                                        {OverlongPolicy::Drop, loss.dropped}}) {
                scenario.lengths.overlong = policy;
                PackedSource packed = packSource(scenario, cost, source, constantsOf(given));
                EXPECT_EQ(discardedTokens(packed), lost) << strategy;
                EXPECT_EQ(trainedTokens(packed), all - lost) << strategy;
            }
        }
}

/// Megatron's dp_balanced scheduler packs [20, 3, 3] with cap 8 as [], [0], [1, 2], and lets [3, 20, 3] over
/// the cap: without a cut the piece is refused by name, with one it fits.
TEST(FieldCase, ADocumentOverTheCapNeverMakesAnEmptyPackNorAnOverfullOne) {
    for (std::vector<std::int64_t> lengths : {std::vector<std::int64_t>{20, 3, 3}, {3, 20, 3}})
        for (const char* strategy : {"greedy", "wlb"}) {
            PackingCase given{.strategy = strategy, .window = 8, .microBatches = 4, .maxTokens = 8};
            Scenario scenario = scenarioOf(given);
            CostModel cost = costOf(scenario);
            std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
            try {
                packer->pack(batchOf(lengths));
                ADD_FAILURE() << strategy << " took a piece of 20 into packs of 8";
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), HasSubstr("20 tokens"));
            }
            EXPECT_THAT(packer->waiting(), IsEmpty());
            PackedSource packed = packSource(scenario, cost, GivenLengths(lengths), constantsOf(given));
            ASSERT_THAT(packed.steps, SizeIs(1));
            for (const MicroBatch& microBatch : packed.steps[0].microBatches) {
                EXPECT_GT(microBatch.tokens, 0);
                EXPECT_LE(microBatch.tokens, 8);
            }
            EXPECT_EQ(trainedTokens(packed), 26);
        }
}

/// Megatron broadcasts offsets and sums of squares as float32: 300 documents of 65,537 pass offset 2^24 and
/// 64 of 131,071 lose 64 of their sum of squares. Ours are 64-bit integers.
TEST(FieldCase, OffsetsAndSumsOfSquaresAreExact) {
    const std::int64_t window = std::int64_t{300} * 65537;
    PackingCase one{.strategy = "sequential", .window = window, .microBatches = 1};
    Scenario scenario = scenarioOf(one);
    CostModel cost = costOf(scenario);
    PackedSource packed =
        packSource(scenario, cost, GivenLengths(std::vector<std::int64_t>(300, 65537)), constantsOf(one));
    ASSERT_THAT(packed.steps, SizeIs(1));
    EXPECT_EQ(packed.steps[0].microBatches[0].tokens, 19661100);
    EXPECT_THAT(packed.steps[0].microBatches[0].pieces, SizeIs(300));

    PackingCase squares{.window = 131071, .microBatches = 2, .maxTokens = 64 * 131071, .crossover = 1};
    scenario = scenarioOf(squares);
    scenario.packing.maxDocuments = 64;
    cost = costOf(scenario);
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(squares)});
    PackedStep step = packer->pack(batchOf(std::vector<std::int64_t>(128, 131071)))[0];
    for (const MicroBatch& microBatch : step.microBatches) {
        // sum of d*1 + d*d over 64 documents: as a double, so that the last token counts.
        EXPECT_EQ(microBatch.work, static_cast<double>(std::int64_t{64} * 131071 * 131072));
        EXPECT_EQ(microBatch.tokens, 64 * 131071);
    }
}

/// NVIDIA/Megatron-LM PRs 2054 and 2282, volcengine/verl 3605: equal tokens are not equal work; another cost
/// gives another assignment.
TEST(FieldCase, SwitchingTheCostChangesTheAssignment) {
    std::vector<std::int64_t> lengths = {8, 5, 5, 1, 1, 1};
    auto packedAt = [&](std::int64_t crossover) {
        PackingCase given{.window = 16, .microBatches = 2, .crossover = crossover};
        Scenario scenario = scenarioOf(given);
        CostModel cost = costOf(scenario);
        return lengthsOf(makePacker({scenario, cost, constantsOf(given)})->pack(batchOf(lengths))[0]);
    };
    // Nearly linear: tokens are evened, 10 against 11. Nearly quadratic: 64 + 8 stand against 25 + 25 + 10,
    // and all the ones join the fives.
    EXPECT_THAT(packedAt(1000000), ElementsAre(ElementsAre(8, 1, 1), ElementsAre(5, 5, 1)));
    EXPECT_THAT(packedAt(1), ElementsAre(ElementsAre(5, 5, 1, 1, 1), ElementsAre(8)));
}

/// huggingface/trl PR 7328: fewer groups than ranks leave some empty; that must be legal and said.
TEST(FieldCase, FewerPiecesThanMicroBatchesIsLegalAndSaid) {
    for (const char* strategy : {"sequential", "greedy", "wlb"}) {
        PackingCase given{.strategy = strategy, .window = 8, .dp = 4, .microBatches = 1};
        Scenario scenario = scenarioOf(given);
        CostModel cost = costOf(scenario);
        std::unique_ptr<Packer> packer = makePacker({scenario, cost, constantsOf(given)});
        GlobalBatch batch = batchOf({8, 8, 8});
        batch.partial = true;
        PackedStep step = packer->pack(batch)[0];
        EXPECT_THAT(lengthsOf(step), ElementsAre(ElementsAre(8), ElementsAre(8), ElementsAre(8), IsEmpty()));
        ASSERT_THAT(packer->notices(), SizeIs(1)) << strategy;
        EXPECT_THAT(packer->notices()[0], HasSubstr("empty micro-batches"));
        EXPECT_EQ(imbalanceDegree(step, cost), 1) << "empty ones do not count";
    }
}

}  // namespace
}  // namespace ballast::testing
