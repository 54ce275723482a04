// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/main_window.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QSet>
#include <QSpinBox>
#include <QTest>

#include "app/studio/models/format.h"
#include "app/studio/models/table_model.h"
#include "app/studio/models/tables.h"
#include "app/studio/plots/bar_plot.h"
#include "app/studio/plots/line_plot.h"
#include "app/studio/plots/timeline_plot.h"
#include "app/studio/plots/timeline_plottable.h"
#include "app/studio/screenshots.h"
#include "app/studio/session.h"
#include "app/studio/views/compare_view.h"
#include "app/studio/views/result_strip.h"
#include "app/studio/views/runs_view.h"
#include "app/studio/views/scenario_form.h"
#include "app/studio/views/timeline_view.h"
#include "core/base/error.h"
#include "tests/app/studio/studio_fixture.h"
#include "tests/support/temporary_directory.h"

namespace ballast::studio {
namespace {

using testing::settle;
using testing::smallScenario;

/// A window on the small scenario.
struct Studio {
    Workers workers;
    Session session{workers};
    MainWindow window{session};

    Studio() {
        session.setScenario(smallScenario());
        settle(workers);
    }

    QStringList labels(QWidget* inside) const {
        QStringList texts;
        for (const QLabel* label : inside->findChildren<QLabel*>())
            texts << label->text();
        return texts;
    }
};

TEST(MainWindow, OpensWithAScenarioThatIsReadyToShow) {
    Workers workers;
    Session session(workers);
    MainWindow window(session);
    session.setScenario(Session::readyScenario());
    settle(workers);
    ASSERT_TRUE(session.whatIf()) << session.problem().toStdString();
    EXPECT_TRUE(session.problem().isEmpty());
    EXPECT_FALSE(session.whatIf()->coarse);
    ASSERT_TRUE(session.whatIf()->baseline);
    EXPECT_GT(session.whatIf()->chosen->figures.tokensPerSecond,
              session.whatIf()->baseline->figures.tokensPerSecond);
}

TEST(ResultStrip, StatesTheFiguresOfTheScenarioAndItsBaseline) {
    Studio studio;
    const WhatIf& result = *studio.session.whatIf();
    const QString all = studio.labels(studio.window.findChild<ResultStrip*>()).join(QLatin1Char('|'));
    for (const QString& text :
         {formatSeconds(result.chosen->figures.medianStepSeconds),
          formatShort(result.chosen->figures.tokensPerSecond),
          formatRatio(result.chosen->figures.imbalanceDegree), formatPercent(result.chosen->figures.bubble),
          formatGiB(result.chosen->figures.memory.gib), formatRatio(result.baseline->figures.imbalanceDegree),
          QStringLiteral("Simulated")})
        EXPECT_TRUE(all.contains(text)) << text.toStdString() << " in " << all.toStdString();
}

TEST(PackingView, DrawsEachDocumentOfAMicroBatchAndItsPredictedSeconds) {
    Studio studio;
    const SimulatedScenario& chosen = *studio.session.whatIf()->chosen;
    const PlanStep& step = chosen.plan.at(std::min<std::size_t>(5, chosen.plan.size() - 1));
    const QList<BarPlot*> plots = studio.window.view(2)->findChildren<BarPlot*>();
    ASSERT_EQ(plots.size(), 2);
    const BarChart& tokens = plots[0]->chart();
    const BarChart& latency = plots[1]->chart();
    ASSERT_EQ(tokens.bars.size(), step.microBatches.size());
    for (std::size_t i = 0; i < step.microBatches.size(); ++i) {
        const MicroBatch& batch = step.microBatches[i].batch;
        const std::vector<BarSegment>& segments = tokens.bars[i][0].segments;
        ASSERT_EQ(segments.size(), batch.pieces.size());
        for (std::size_t piece = 0; piece < segments.size(); ++piece)
            EXPECT_EQ(segments[piece].to - segments[piece].from,
                      static_cast<double>(batch.pieces[piece].length()));
        if (!batch.pieces.empty()) {
            EXPECT_DOUBLE_EQ(latency.bars[i][0].segments.back().to,
                             chosen.cost().workload(batch.work).value());
        }
    }
}

TEST(PackingView, DrawsTheImbalanceOfEachStepOfBothPackings) {
    Studio studio;
    const WhatIf& result = *studio.session.whatIf();
    const LinePlot* plot = studio.window.view(2)->findChildren<LinePlot*>().first();
    ASSERT_EQ(plot->chart().lines.size(), 2U);
    const std::array<const SimulatedScenario*, 2> packings = {result.chosen.get(), result.baseline.get()};
    for (std::size_t line = 0; line < 2; ++line) {
        ASSERT_EQ(plot->chart().lines[line].y.size(), packings[line]->plan.size());
        for (std::size_t i = 0; i < packings[line]->plan.size(); ++i)
            EXPECT_DOUBLE_EQ(plot->chart().lines[line].y[i],
                             imbalanceDegree(packedStep(packings[line]->plan[i]), packings[line]->cost()));
    }
}

TEST(ScenarioForm, MakesAnEditTheScenarioAndPlansIt) {
    Studio studio;
    const double before = studio.session.whatIf()->chosen->figures.tokensPerSecond;
    for (QSpinBox* box : studio.window.form()->findChildren<QSpinBox*>()) {
        if (box->prefix() == QStringLiteral("cp "))
            box->setValue(4);
    }
    ASSERT_TRUE(QTest::qWaitFor([&] { return studio.session.scenario().layout.cp == 4; }, 5000));
    settle(studio.workers);
    EXPECT_EQ(studio.session.whatIf()->scenario.layout.cp, 4);
    EXPECT_NE(studio.session.whatIf()->chosen->figures.tokensPerSecond, before);
}

TEST(ScenarioForm, GivesBackEveryKnobOfAScenario) {
    Studio studio;
    Scenario odd = smallScenario("greedy", "per-document");
    odd.lengths.overlong = OverlongPolicy::Drop;
    odd.lengths.order = DocumentOrder::Source;
    odd.lengths.seed = 42;
    odd.packing.batches = 3;
    odd.packing.thresholds.reset();
    odd.packing.queues = 2;
    odd.packing.maxTokens.reset();
    odd.cost.model = "quadratic";
    odd.cost.crossoverTokens = 24576;
    odd.training.learningRate = 1e-3;
    odd.steps.reset();
    studio.session.setScenario(odd);
    EXPECT_EQ(scenarioJson(studio.window.form()->scenario()), scenarioJson(odd));
}

TEST(ScenarioForm, SaysBesideTheFieldWhatCantBeReadAndPlansNothing) {
    Studio studio;
    for (QLineEdit* edit : studio.window.form()->findChildren<QLineEdit*>()) {
        if (edit->accessibleName() == QStringLiteral("Thresholds")) {
            edit->setText(QStringLiteral("lots"));
            emit edit->textEdited(edit->text());
        }
    }
    const Scenario before = studio.session.scenario();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !studio.window.form()->problemAt(QStringLiteral("packing.thresholds")).isEmpty(); },
        5000));
    EXPECT_EQ(studio.session.scenario(), before);
}

TEST(ScenarioForm, ShowsTheCoresSentenceBesideTheFieldItNames) {
    Studio studio;
    Scenario bad = smallScenario();
    bad.packing.maxTokens = 1000;
    studio.session.setScenario(bad);
    settle(studio.workers);
    EXPECT_TRUE(studio.window.form()->problemAt(QStringLiteral("packing.max_tokens")).contains("max_tokens"))
        << studio.session.problem().toStdString();
    studio.session.setScenario(smallScenario());
    settle(studio.workers);
    EXPECT_TRUE(studio.window.form()->problemAt(QStringLiteral("packing.max_tokens")).isEmpty());
}

TEST(Session, ShowsTheNewestOfManyEditsAndNoneOfTheOthers) {
    Workers workers;
    Session session(workers);
    std::vector<std::uint64_t> shown;
    QObject::connect(&session, &Session::whatIfChanged,
                     [&] { shown.push_back(session.whatIf()->scenario.lengths.seed); });
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Scenario scenario = smallScenario();
        scenario.lengths.seed = seed;
        session.setScenario(scenario);
    }
    settle(workers);
    ASSERT_FALSE(shown.empty());
    for (const std::uint64_t seed : shown)
        EXPECT_EQ(seed, 10U);
}

TEST(MainWindow, ClosesCleanlyDuringALoad) {
    ballast::testing::TemporaryDirectory folder;
    testing::storeRun(folder / "work.ballast", smallScenario());
    for (int delay : {0, 1, 5, 20, 60}) {
        Workers workers;
        Session session(workers);
        auto window = std::make_unique<MainWindow>(session);
        window->show();
        session.setScenario(Session::readyScenario());
        window->openPath(folder / "work.ballast");
        QTest::qWait(delay);
        window.reset();
    }
}

TEST(MainWindow, RefusesAFileThatIsNoWorkspaceAndKeepsTheOneItHas) {
    ballast::testing::TemporaryDirectory folder;
    Studio studio;
    const auto text = folder.write("notes.ballast", "this is no database");
    EXPECT_THROW(studio.window.openPath(text), Error);
    EXPECT_THROW(studio.window.openPath(folder / "absent.ballast"), Error);
    EXPECT_TRUE(studio.session.workspace().empty());
}

TEST(RunsView, ListsTheRunsOfTheWorkspaceWithTheCoresFigures) {
    ballast::testing::TemporaryDirectory folder;
    const auto file = folder / "work.ballast";
    const RunId first = testing::storeRun(file, smallScenario("sequential", "per-sequence"));
    const RunId second = testing::storeRun(file, smallScenario());
    Studio studio;
    studio.window.openPath(file);
    settle(studio.workers);
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    const TableModel* table = studio.window.runs()->table();
    QAbstractItemModelTester tester(const_cast<TableModel*>(table),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    ASSERT_EQ(table->rowCount(), 2);
    int row = 0;
    for (const RunId run : {first, second}) {
        const RunFigures figures = runFigures(workspace, run);
        EXPECT_EQ(table->data(table->index(row, 0), Qt::UserRole).toLongLong(), run);
        EXPECT_EQ(table->data(table->index(row, 4)).toString(), QStringLiteral("Simulated"));
        EXPECT_EQ(table->data(table->index(row, 6), Qt::UserRole).toLongLong(), figures.steps);
        EXPECT_DOUBLE_EQ(table->data(table->index(row, 7), Qt::UserRole).toDouble(), figures.secondsPerToken);
        EXPECT_DOUBLE_EQ(table->data(table->index(row, 8), Qt::UserRole).toDouble(), figures.tokensPerSecond);
        EXPECT_DOUBLE_EQ(table->data(table->index(row, 9), Qt::UserRole).toDouble(), figures.imbalanceDegree);
        ++row;
    }
    EXPECT_EQ(studio.session.selectedRun(), second);
    EXPECT_EQ(studio.session.scenario().packing.strategy, "wlb");
}

/// Appends simulated step `index` to a run as a runner does with a measured one.
void appendStep(const std::filesystem::path& file, RunId run, const SimulatedScenario& scenario,
                std::size_t index) {
    const auto timeline = simulateOne(scenario, index);
    StepRecord step;
    step.step = timeline->step;
    step.begin = timeline->begin;
    step.end = timeline->end;
    step.tokens = scenario.plan.at(index).tokens();
    step.targets = scenario.plan.at(index).targets();
    step.loss = 5.0 - static_cast<double>(index);
    std::vector<RankStepRecord> ranks;
    for (const RankSpans& spans : timeline->ranks)
        ranks.push_back({step.step, spans.rank, breakdownOf(spans, timeline->begin, timeline->end), {}});
    Workspace::open(file, Workspace::Mode::ReadWrite).addStep(run, step, *timeline, ranks);
}

TEST(RunsView, FollowsARunThatGrowsWithoutReadingItsOldStepsAgain) {
    ballast::testing::TemporaryDirectory folder;
    const auto file = folder / "work.ballast";
    const auto scenario = simulateScenario(smallScenario(), 4, [] { return false; });
    RunRecord record;
    record.state = RunState::Running;
    record.clock = Clock::Virtual;
    record.layout = smallScenario().layout;
    record.name = "wlb + adaptive";
    record.scenario = scenarioJson(smallScenario());
    record.tokensAre = "synthetic";
    record.plannedSteps = 4;
    const RunId run = Workspace::open(file, Workspace::Mode::ReadWrite).addRun(record);
    appendStep(file, run, *scenario, 0);
    Studio studio;
    studio.window.openPath(file);
    settle(studio.workers);
    const RunsView* view = studio.window.runs();
    ASSERT_EQ(view->detail().steps.size(), 1U);
    const std::int64_t first = view->detail().steps.front().id;
    appendStep(file, run, *scenario, 1);
    appendStep(file, run, *scenario, 2);
    studio.session.refreshRuns();
    settle(studio.workers);
    ASSERT_EQ(view->detail().steps.size(), 3U);
    EXPECT_EQ(view->detail().steps.front().id, first);
    const LinePlot* loss = view->findChildren<LinePlot*>().first();
    EXPECT_EQ(loss->chart().lines.front().y, (std::vector<double>{5, 4, 3}));
    EXPECT_EQ(view->table()->data(view->table()->index(0, 6), Qt::UserRole).toLongLong(), 3);
}

TEST(CompareView, SplitsTheDifferenceOfTimePerTokenIntoKinds) {
    ballast::testing::TemporaryDirectory folder;
    const auto file = folder / "work.ballast";
    testing::storeRun(file, smallScenario("sequential", "per-sequence"));
    testing::storeRun(file, smallScenario());
    Studio studio;
    studio.window.openPath(file);
    settle(studio.workers);
    const auto shown = studio.window.compare()->shown();
    ASSERT_TRUE(shown);
    const Comparison& comparison = shown->comparison;
    EXPECT_EQ(comparison.baseline.run.name, "sequential + per-sequence");
    double sum = 0;
    double last = INFINITY;
    for (const Delta& delta : kindDeltas(*shown)) {
        sum += delta.change();
        EXPECT_LE(std::abs(delta.change()), last) << "sorted by size";
        last = std::abs(delta.change());
    }
    const double difference = (comparison.other.secondsPerToken - comparison.baseline.secondsPerToken) * 1e6;
    EXPECT_NEAR(sum, difference, 1e-6 * comparison.baseline.secondsPerToken * 1e6);
}

TEST(TimelineView, ShowsTheStoredStepOfARun) {
    ballast::testing::TemporaryDirectory folder;
    const auto file = folder / "work.ballast";
    const RunId run = testing::storeRun(file, smallScenario());
    Studio studio;
    studio.window.openPath(file);
    settle(studio.workers);
    TimelineView* view = studio.window.timeline();
    QComboBox* source = view->findChildren<QComboBox*>().first();
    source->setCurrentIndex(source->findData(static_cast<qlonglong>(run)));
    emit source->activated(source->currentIndex());
    settle(studio.workers);
    const StepTimeline stored = Workspace::open(file, Workspace::Mode::ReadOnly).stepTimeline(run, 1);
    std::size_t spans = 0;
    for (const RankSpans& rank : stored.ranks)
        spans += rank.spans.size();
    std::size_t shown = 0;
    for (const TimelineRank& rank : view->upper()->plottable()->ranks()) {
        for (const TimelineRow& row : rank.rows)
            shown += row.spans.size();
    }
    EXPECT_EQ(shown, spans);
}

TEST(Screenshots, ShowEveryViewAtBothSizesAndNoneIsBlank) {
    ballast::testing::TemporaryDirectory folder;
    const auto file = folder / "work.ballast";
    testing::storeRun(file, smallScenario("sequential", "per-sequence"));
    testing::storeRun(file, smallScenario());
    Studio studio;
    studio.window.openPath(file);
    const auto written = writeScreenshots(studio.window, studio.workers, folder / "pictures");
    ASSERT_EQ(written.size(), 12U);
    for (const std::filesystem::path& path : written) {
        const QImage picture(QString::fromStdString(path.string()));
        const int scale = path.filename().string().find("@2x") == std::string::npos ? 1 : 2;
        EXPECT_EQ(picture.size(), QSize(1600, 900) * scale) << path;
        QSet<QRgb> colours;
        for (int y = 0; y < picture.height(); y += 7) {
            for (int x = 0; x < picture.width(); x += 7)
                colours.insert(picture.pixel(x, y));
        }
        EXPECT_GT(colours.size(), 20) << path << " looks blank";
    }
}

}  // namespace
}  // namespace ballast::studio
