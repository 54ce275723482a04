// SPDX-License-Identifier: Apache-2.0
#include "core/workload/document_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "tests/core/workload/length_list.h"

namespace ballast {
namespace {

using Lengths = std::vector<std::int64_t>;

LengthsOptions options(std::int64_t window, DocumentOrder order = DocumentOrder::Source) {
    LengthsOptions chosen;
    chosen.window = window;
    chosen.order = order;
    return chosen;
}

std::vector<GlobalBatch> allBatches(DocumentStream& stream) {
    std::vector<GlobalBatch> batches;
    while (auto batch = stream.next())
        batches.push_back(std::move(*batch));
    return batches;
}

/// (begin, end) of the pieces of each batch, with the document, for short expectations.
std::vector<std::vector<std::array<std::int64_t, 3>>> ranges(const std::vector<GlobalBatch>& batches) {
    std::vector<std::vector<std::array<std::int64_t, 3>>> all;
    for (const GlobalBatch& batch : batches) {
        auto& here = all.emplace_back();
        for (const Piece& piece : batch.pieces)
            here.push_back({piece.document, piece.begin, piece.end});
    }
    return all;
}

/// How often each (document, token) is in a batch or a discard: must be `epochs` times for every one.
void expectConserved(const Lengths& lengths, const LengthsOptions& chosen, int microBatches) {
    const LengthList source(lengths);
    DocumentStream stream(source, chosen, microBatches);
    const std::vector<GlobalBatch> batches = allBatches(stream);
    std::vector<std::vector<std::int64_t>> seen;
    for (const std::int64_t length : lengths)
        seen.emplace_back(static_cast<std::size_t>(length), 0);
    const auto cover = [&](std::int64_t document, std::int64_t begin, std::int64_t end) {
        ASSERT_LT(begin, end);
        for (std::int64_t token = begin; token < end; ++token)
            ++seen.at(static_cast<std::size_t>(document)).at(static_cast<std::size_t>(token));
    };
    std::int64_t position = 0;
    std::int64_t order = 0;
    const std::int64_t batchTokens = chosen.window * microBatches;
    for (std::size_t step = 0; step < batches.size(); ++step) {
        const GlobalBatch& batch = batches[step];
        std::int64_t tokens = 0;
        EXPECT_EQ(batch.step, static_cast<std::int64_t>(step));
        for (const Piece& piece : batch.pieces) {
            cover(piece.document, piece.begin, piece.end);
            EXPECT_EQ(piece.arrivalStep, batch.step);
            EXPECT_EQ(piece.order, order++);
            EXPECT_EQ(position / batchTokens, batch.step) << "batch of the first token";
            if (chosen.cut == CutPolicy::Window) {
                EXPECT_EQ(position / chosen.window, (position + piece.length() - 1) / chosen.window);
            }
            EXPECT_LE(piece.length(), chosen.window);
            position += piece.length();
            tokens += piece.length();
        }
        EXPECT_EQ(batch.tokens, tokens);
        const bool last = step + 1 == batches.size();
        EXPECT_EQ(batch.partial, last && position < (batch.step + 1) * batchTokens);
        if (chosen.cut == CutPolicy::Window && !batch.partial) {
            EXPECT_EQ(tokens, batchTokens);
        }
    }
    for (const Discard& discard : stream.discards()) {
        cover(discard.document, discard.begin, discard.end);
        EXPECT_FALSE(discard.reason.empty());
    }
    for (const auto& document : seen) {
        for (const std::int64_t times : document)
            ASSERT_EQ(times, chosen.epochs);
    }
    EXPECT_EQ(stream.emptyDocuments(), std::count(lengths.begin(), lengths.end(), 0));
}

TEST(DocumentStream, PutsEveryTokenInOneBatchOrDiscardOverRandomAndHostileLengths) {
    std::vector<Lengths> sets = {Lengths(20, 16), {1000}, Lengths(500, 1), {3, 2, 1},
                                 {0, 0, 0},       {},     {0, 1, 0, 1},    {16, 17, 15, 33, 0, 32, 31}};
    Random random(7);
    for (int set = 0; set < 20; ++set) {
        Lengths& lengths = sets.emplace_back();
        for (int document = 0; document < 60; ++document)
            lengths.push_back(static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 90 : 12)));
    }
    for (const Lengths& lengths : sets) {
        for (const auto overlong : {OverlongPolicy::Split, OverlongPolicy::Truncate, OverlongPolicy::Drop}) {
            for (const auto cut : {CutPolicy::Window, CutPolicy::None}) {
                for (const auto order : {DocumentOrder::Source, DocumentOrder::Shuffled}) {
                    LengthsOptions chosen = options(16, order);
                    chosen.overlong = overlong;
                    chosen.cut = cut;
                    chosen.epochs = lengths.size() % 2 == 0 ? 3 : 1;
                    expectConserved(lengths, chosen, 1);
                    expectConserved(lengths, chosen, 4);
                }
            }
        }
    }
}

TEST(DocumentStream, CutsAtEveryWindowBorder) {
    const LengthList source({3, 6, 4, 2});
    DocumentStream stream(source, options(5), 1);
    EXPECT_EQ(ranges(allBatches(stream)),
              (std::vector<std::vector<std::array<std::int64_t, 3>>>{
                  {{0, 0, 3}, {1, 0, 2}}, {{1, 2, 5}, {1, 5, 6}, {2, 0, 1}}, {{2, 1, 4}, {3, 0, 2}}}));
}

TEST(DocumentStream, KeepsPiecesWholeWithoutCutting) {
    const LengthList source({3, 4, 4, 2});
    LengthsOptions chosen = options(5);
    chosen.cut = CutPolicy::None;
    DocumentStream stream(source, chosen, 1);
    EXPECT_EQ(ranges(allBatches(stream)), (std::vector<std::vector<std::array<std::int64_t, 3>>>{
                                              {{0, 0, 3}, {1, 0, 4}}, {{2, 0, 4}}, {{3, 0, 2}}}));
}

TEST(DocumentStream, ListsWhatTruncateAndDropLeaveOut) {
    const LengthList source({7, 3, 12});
    LengthsOptions chosen = options(5);
    chosen.overlong = OverlongPolicy::Truncate;
    DocumentStream truncating(source, chosen, 1);
    allBatches(truncating);
    EXPECT_EQ(truncating.discards(), (std::vector<Discard>{{0, 5, 7, "longer than the window: truncated"},
                                                           {2, 5, 12, "longer than the window: truncated"}}));
    chosen.overlong = OverlongPolicy::Drop;
    DocumentStream dropping(source, chosen, 1);
    const auto batches = allBatches(dropping);
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches[0].tokens, 3);
    EXPECT_EQ(dropping.discards(), (std::vector<Discard>{{0, 0, 7, "longer than the window: dropped"},
                                                         {2, 0, 12, "longer than the window: dropped"}}));
}

TEST(DocumentStream, ShufflesOncePerEpochByTheSeed) {
    const LengthList source(Lengths(50, 1));
    const auto orderOf = [&](std::uint64_t seed) {
        LengthsOptions chosen = options(50, DocumentOrder::Shuffled);
        chosen.seed = seed;
        chosen.epochs = 2;
        DocumentStream stream(source, chosen, 1);
        std::vector<Lengths> orders;
        for (const GlobalBatch& batch : allBatches(stream)) {
            Lengths& order = orders.emplace_back();
            for (const Piece& piece : batch.pieces)
                order.push_back(piece.document);
        }
        return orders;
    };
    const auto orders = orderOf(1);
    ASSERT_EQ(orders.size(), 2u);
    EXPECT_NE(orders[0], orders[1]);
    EXPECT_EQ(orders, orderOf(1));
    EXPECT_NE(orders, orderOf(2));
    for (const Lengths& order : orders)
        EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 50u);
}

TEST(DocumentStream, ShufflesAllPermutationsAboutEquallyOften) {
    const LengthList source({1, 1, 1});
    std::map<Lengths, int> counts;
    constexpr int kDraws = 6000;
    for (int seed = 0; seed < kDraws; ++seed) {
        LengthsOptions chosen = options(3, DocumentOrder::Shuffled);
        chosen.seed = static_cast<std::uint64_t>(seed);
        DocumentStream stream(source, chosen, 1);
        Lengths order;
        const auto batch = stream.next();
        ASSERT_TRUE(batch);
        for (const Piece& piece : batch->pieces)
            order.push_back(piece.document);
        ++counts[order];
    }
    ASSERT_EQ(counts.size(), 6u);
    for (const auto& [order, count] : counts)
        EXPECT_NEAR(count, kDraws / 6, 150);  // five standard deviations
}

TEST(DocumentStream, DrawsWithoutEndFromAPreset) {
    const std::vector<std::string> preset = {"wlb-128k"};
    const auto source = openLengthSource(preset, 1);
    DocumentStream stream(*source, options(131072, DocumentOrder::Shuffled), 4);
    std::int64_t document = 0;
    for (int step = 0; step < 50; ++step) {
        const auto batch = stream.next();
        ASSERT_TRUE(batch);
        EXPECT_FALSE(batch->partial);
        EXPECT_EQ(batch->tokens, 4 * 131072);
        for (const Piece& piece : batch->pieces) {
            EXPECT_TRUE(piece.document == document || piece.document == document + 1);
            document = piece.document;
        }
    }
}

/// A thousand documents of ten million tokens, five hundred times over: 5e12 tokens.
TEST(DocumentStream, CountsBeyond32BitsOverManyEpochs) {
    const LengthList source(Lengths(1000, 10'000'000));
    LengthsOptions chosen = options(10'000'000'000, DocumentOrder::Shuffled);
    chosen.epochs = 500;
    DocumentStream stream(source, chosen, 1);
    std::int64_t tokens = 0;
    std::int64_t steps = 0;
    while (const auto batch = stream.next()) {
        tokens += batch->tokens;
        ++steps;
        EXPECT_FALSE(batch->partial);
    }
    EXPECT_EQ(tokens, 5'000'000'000'000);
    EXPECT_EQ(steps, 500);
}

}  // namespace
}  // namespace ballast
