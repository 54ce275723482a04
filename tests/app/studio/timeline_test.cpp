// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <qcustomplot.h>

#include <map>

#include "app/studio/async/what_if.h"
#include "app/studio/models/timeline_rows.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/plots/timeline_plot.h"
#include "app/studio/plots/timeline_plottable.h"
#include "tests/app/studio/studio_fixture.h"

namespace ballast::studio {
namespace {

std::shared_ptr<const StepTimeline> simulatedStep() {
    const auto simulated = simulateScenario(testing::smallScenario(), 2, [] { return false; });
    return simulateOne(*simulated, 1);
}

TEST(TimelineRows, ShowEverySpanOfEveryRankOnceAndInOrder) {
    const auto step = simulatedStep();
    const Layout layout = testing::smallScenario().layout;
    const std::vector<TimelineRank> ranks = timelineRanks(*step, layout, true);
    ASSERT_EQ(ranks.size(), step->ranks.size());
    std::map<int, std::size_t> shown;
    for (const TimelineRank& rank : ranks) {
        for (const TimelineRow& row : rank.rows) {
            EXPECT_EQ(row.index.size(), row.spans.size());
            shown[rank.rank] += row.spans.size();
            for (std::size_t i = 1; i < row.spans.size(); ++i)
                EXPECT_LE(row.spans[i - 1].end, row.spans[i].begin);
        }
    }
    for (const RankSpans& spans : step->ranks)
        EXPECT_EQ(shown[spans.rank], spans.spans.size()) << "rank " << spans.rank;
}

TEST(TimelineRows, StandByReplicaThenStageThenContextRank) {
    const auto step = simulatedStep();
    const std::vector<TimelineRank> ranks = timelineRanks(*step, testing::smallScenario().layout, true);
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        const Coordinate a = ranks[i - 1].at;
        const Coordinate b = ranks[i].at;
        EXPECT_LT(std::tie(a.dp, a.pp, a.cp, a.tp), std::tie(b.dp, b.pp, b.cp, b.tp));
    }
}

TEST(TimelineRows, ShowOneRankOfEachTensorGroupUnlessAllAreWanted) {
    StepTimeline step;
    const Layout layout{4, 2, 1, 1};
    for (int rank = 0; rank < 8; ++rank)
        step.ranks.push_back({rank, true, {}});
    EXPECT_EQ(timelineRanks(step, layout, true).size(), 8U);
    const std::vector<TimelineRank> first = timelineRanks(step, layout, false);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].rank, 0);
    EXPECT_EQ(first[1].rank, 4);
}

TEST(TimelineRows, SayWhatASpanWaitedForAndForWhom) {
    Span span;
    span.begin = 2'000'000;
    span.waitingUntil = 5'000'000;
    span.end = 6'000'000;
    span.kind = SpanKind::CpGather;
    span.microBatch = 3;
    span.layer = 7;
    span.blamedRank = 5;
    span.document = 1234;
    const QString text = describeSpan(span, 2, 1'000'000);
    for (const char* part : {"CP gather", "rank 2", "micro-batch 3", "layer 7", "from 1.00 ms", "for 4.00 ms",
                             "waiting 3.00 ms", "transfer 1.00 ms", "rank 5", "1,234"})
        EXPECT_TRUE(text.contains(QString::fromUtf8(part))) << part << " in " << text.toStdString();
}

TEST(TimelinePlot, DrawsFewerBoxesThanSpansAndNamesWhatIsUnderThePointer) {
    const auto step = simulatedStep();
    TimelinePlot plot;
    plot.resize(900, 500);
    plot.show();
    const double seconds = toSeconds(step->end - step->begin).value();
    plot.setStep(step, testing::smallScenario().layout, true, seconds);
    QCoreApplication::processEvents();
    auto* picture = plot.findChild<QCustomPlot*>();
    picture->replot();
    std::size_t spans = 0;
    for (const RankSpans& rank : step->ranks)
        spans += rank.spans.size();
    EXPECT_GT(plot.plottable()->drawnBoxes(), 0U);
    EXPECT_LE(plot.plottable()->drawnBoxes(), spans);

    const TimelineRank& rank = plot.plottable()->ranks().front();
    const Span* widest = &rank.rows.front().spans.front();
    for (const Span& span : rank.rows.front().spans) {
        if (span.duration() > widest->duration())
            widest = &span;
    }
    const double middle = toSeconds((widest->begin + widest->end) / 2 - step->begin).value();
    const QPointF at(picture->xAxis->coordToPixel(middle), picture->yAxis->coordToPixel(0.5));
    EXPECT_EQ(plot.plottable()->describeAt(at), describeSpan(*widest, rank.rank, step->begin));
}

TEST(TimelinePlot, ShowsMoreDetailWhenZoomedIn) {
    const auto step = simulatedStep();
    TimelinePlot plot;
    plot.resize(400, 500);
    plot.show();
    const double seconds = toSeconds(step->end - step->begin).value();
    plot.setStep(step, testing::smallScenario().layout, true, seconds);
    auto* picture = plot.findChild<QCustomPlot*>();
    picture->replot();
    const auto folded = [&plot, &step] {
        std::size_t count = 0;
        const auto from = step->begin + toNanoseconds(Seconds(plot.rangeFrom()));
        const auto to = step->begin + toNanoseconds(Seconds(plot.rangeTo()));
        for (const TimelineRank& rank : plot.plottable()->ranks()) {
            for (const TimelineRow& row : rank.rows) {
                for (const FoldedRun& run : row.index.fold(from, to, 400))
                    count += run.count > 1;
            }
        }
        return count;
    };
    const std::size_t before = folded();
    plot.setTimeRange(seconds * 0.4, seconds * 0.42);
    EXPECT_LT(folded(), before);
}

TEST(TimelinePlot, FollowsAnotherPlotsRange) {
    const auto step = simulatedStep();
    TimelinePlot upper;
    TimelinePlot lower;
    const Layout layout = testing::smallScenario().layout;
    upper.setStep(step, layout, true, 1);
    lower.setStep(step, layout, true, 1);
    QObject::connect(&upper, &TimelinePlot::timeRangeChanged, &lower, &TimelinePlot::setTimeRange);
    upper.setTimeRange(0.25, 0.5);
    EXPECT_DOUBLE_EQ(lower.rangeFrom(), 0.25);
    EXPECT_DOUBLE_EQ(lower.rangeTo(), 0.5);
}

TEST(SpanPalette, GivesEveryKindAColourOfItsOwn) {
    std::map<QRgb, SpanKind> seen;
    for (int value = 1; value <= kSpanKindCount; ++value) {
        const auto kind = static_cast<SpanKind>(value);
        EXPECT_TRUE(seen.emplace(spanColour(kind).rgb(), kind).second) << spanKindName(kind);
    }
}

}  // namespace
}  // namespace ballast::studio
