// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/interval_index.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/random.h"

namespace ballast {
namespace {

std::vector<Span> randomLane(std::uint64_t seed, int count) {
    Random random(seed);
    std::vector<Span> lane;
    Nanoseconds at = 0;
    for (int i = 0; i < count; ++i) {
        at += static_cast<Nanoseconds>(random.below(3) == 0 ? random.below(2000) : random.below(3));
        Nanoseconds length =
            static_cast<Nanoseconds>(random.below(20) == 0 ? random.below(5000) : random.below(40));
        lane.push_back({.begin = at,
                        .end = at + length,
                        .waitingUntil = at + length / 3,
                        .kind = static_cast<SpanKind>(1 + random.below(kSpanKindCount)),
                        .lane = Lane::Compute});
        at += length;
    }
    return lane;
}

TEST(IntervalIndex, DrawsWideSpansSinglyAndFoldsNarrowNeighbours) {
    // 10 ns a pixel: spans of more than 30 ns stand alone.
    std::vector<Span> lane = {
        {.begin = 0, .end = 100, .waitingUntil = 0, .kind = SpanKind::Forward},
        {.begin = 100, .end = 104, .waitingUntil = 100, .kind = SpanKind::Loss},
        {.begin = 104, .end = 112, .waitingUntil = 108, .kind = SpanKind::CpGather},
        {.begin = 300, .end = 310, .waitingUntil = 300, .kind = SpanKind::Optimizer},
    };
    std::vector<FoldedRun> runs = IntervalIndex(lane).fold(0, 1000, 100);
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(runs[0].count, 1u);
    EXPECT_EQ(runs[0].kind, SpanKind::Forward);
    EXPECT_EQ(runs[1].count, 2u);
    EXPECT_EQ(runs[1].first, 1u);
    EXPECT_EQ(runs[1].begin, 100);
    EXPECT_EQ(runs[1].end, 112);
    EXPECT_EQ(runs[1].busy, 12);
    EXPECT_EQ(runs[1].waiting, 4);
    EXPECT_EQ(runs[1].kind, SpanKind::CpGather) << "the kind with the most time";
    EXPECT_EQ(runs[2].kind, SpanKind::Optimizer);
}

TEST(IntervalIndex, FoldingLosesNoSpanAndNoTimeAtAnyZoom) {
    std::vector<Span> lane = randomLane(7, 3000);
    IntervalIndex index(lane);
    Nanoseconds end = lane.back().end + 1;
    for (int pixels : {1, 7, 100, 1600, 100000})
        for (auto [from, to] :
             {std::pair<Nanoseconds, Nanoseconds>{0, end}, {end / 3, end / 2}, {end / 2, end / 2 + 40}}) {
            std::vector<FoldedRun> runs = index.fold(from, to, pixels);
            double pixel = static_cast<double>(to - from) / pixels;
            std::size_t next = runs.empty() ? 0 : runs.front().first;
            for (const FoldedRun& run : runs) {
                EXPECT_EQ(run.first, next) << "runs follow each other";
                next += run.count;
                Nanoseconds busy = 0;
                std::map<SpanKind, Nanoseconds> byKind;
                for (std::size_t i = run.first; i < next; ++i) {
                    busy += lane[i].duration();
                    byKind[lane[i].kind] += lane[i].duration();
                    EXPECT_TRUE(run.count == 1 || static_cast<double>(lane[i].duration()) <= 3 * pixel);
                }
                EXPECT_EQ(run.busy, busy);
                for (const auto& [kind, time] : byKind)
                    EXPECT_LE(time, byKind[run.kind]);
                EXPECT_EQ(run.begin, lane[run.first].begin);
                EXPECT_EQ(run.end, lane[next - 1].end);
            }
            std::size_t visible = 0;
            for (const Span& span : lane)
                visible += span.end > from && span.begin < to && span.duration() > 0;
            std::size_t drawn = 0;
            for (const FoldedRun& run : runs)
                for (std::size_t i = run.first; i < run.first + run.count; ++i)
                    drawn += lane[i].duration() > 0;
            EXPECT_EQ(drawn, visible);
            EXPECT_LE(runs.size(), static_cast<std::size_t>(2 * pixels + 2));
        }
}

TEST(IntervalIndex, NothingIsDrawnOfAnEmptyRangeOrAnEmptyLane) {
    std::vector<Span> lane = randomLane(3, 10);
    EXPECT_TRUE(IntervalIndex(lane).fold(50, 50, 100).empty());
    EXPECT_TRUE(IntervalIndex(lane).fold(50, 20, 100).empty());
    EXPECT_TRUE(IntervalIndex(lane).fold(0, 100, 0).empty());
    EXPECT_TRUE(IntervalIndex().fold(0, 100, 100).empty());
    EXPECT_FALSE(IntervalIndex().hit(5, 1000).has_value());
}

TEST(IntervalIndex, HitsWhatAScanOverAllSpansHits) {
    std::vector<Span> lane = randomLane(11, 400);
    IntervalIndex index(lane);
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        auto moment =
            static_cast<Nanoseconds>(random.below(static_cast<std::uint64_t>(lane.back().end + 100)));
        auto tolerance = static_cast<Nanoseconds>(random.below(60));
        Nanoseconds nearest = tolerance + 1;
        bool inside = false;
        for (const Span& span : lane) {
            inside = inside || (span.begin <= moment && moment < span.end);
            nearest = std::min(nearest, std::max<Nanoseconds>({0, span.begin - moment, moment - span.end}));
        }
        std::optional<std::size_t> hit = index.hit(moment, tolerance);
        ASSERT_EQ(hit.has_value(), nearest <= tolerance) << moment;
        if (!hit)
            continue;
        const Span& span = lane[*hit];
        EXPECT_EQ(std::max<Nanoseconds>({0, span.begin - moment, moment - span.end}), nearest);
        EXPECT_TRUE(!inside || (span.begin <= moment && moment < span.end));
    }
}

}  // namespace
}  // namespace ballast
