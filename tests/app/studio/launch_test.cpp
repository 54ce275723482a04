// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QLabel>
#include <QProcess>
#include <QTest>
#include <algorithm>

#include "app/studio/launch/launch_dialog.h"
#include "app/studio/launch/run_launcher.h"
#include "app/studio/main_window.h"
#include "app/studio/session.h"
#include "core/base/error.h"
#include "tests/app/studio/studio_fixture.h"
#include "tests/support/temporary_directory.h"

namespace ballast::studio {
namespace {

using testing::smallScenario;

bool hasPrograms() {
    try {
        findProgram("ballast");
        findProgram("ballast-train");
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST(ShellLine, QuotesWhatAShellWouldSplitOrExpand) {
    EXPECT_EQ(shellLine({"mpirun", "-n", "8", "/opt/my tools/train", "it's", "$HOME", ""}),
              QStringLiteral("mpirun -n 8 '/opt/my tools/train' 'it'\\''s' '$HOME' ''"));
}

TEST(LaunchDialog, ShowsTheCommandOfTheRequestItGives) {
    const LaunchDialog dialog(smallScenario(), "/data/work.ballast", 7);
    EXPECT_TRUE(dialog.commandText().contains(runCommand(dialog.request(), QStringLiteral("scenario.json"))));
    EXPECT_EQ(dialog.request().scenario, smallScenario());
    if (!hasPrograms())
        GTEST_SKIP() << "ballast-train is not built here, so there is no command for the ranks";
    EXPECT_TRUE(dialog.commandText().contains(
        shellLine(launchCommand(dialog.request(), "/data/work.ballast.runs/7"))));
}

TEST(LaunchDialog, SaysWhyAScenarioCantBeTrainedInsteadOfStartingIt) {
    Scenario scenario = smallScenario();
    scenario.recompute = "selective";
    const LaunchDialog dialog(scenario, "/data/work.ballast", 7);
    const auto labels = dialog.findChildren<QLabel*>();
    EXPECT_TRUE(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
        return label->text().contains(QStringLiteral("recompute"));
    }));
}

TEST(RunLauncher, TurnsABadRequestIntoASentenceAndWritesNothing) {
    ballast::testing::TemporaryDirectory folder;
    Workers workers;
    RunLauncher launcher(workers);
    QString sentence;
    QObject::connect(&launcher, &RunLauncher::failed, [&](const QString& text) { sentence = text; });
    RunRequest request;
    request.scenario = smallScenario();
    request.scenario.model = "no-such-model";
    request.workspace = folder / "work.ballast";
    launcher.launch(request);
    testing::settle(workers);
    EXPECT_TRUE(sentence.contains(QStringLiteral("no-such-model"))) << sentence.toStdString();
    EXPECT_FALSE(std::filesystem::exists(request.workspace));
}

/// A run of two ranks on a short window.
RunRequest smallRun(const std::filesystem::path& workspace, std::int64_t steps) {
    RunRequest request;
    request.scenario = smallScenario();
    request.scenario.lengths.window = 512;
    request.scenario.lengths.overlong = OverlongPolicy::Drop;
    request.scenario.layout = {1, 2, 1, 1};
    request.scenario.steps = steps;
    request.scenario.packing.thresholds = std::vector<std::int64_t>{256};
    request.scenario.packing.maxTokens = 1024;
    request.clock = "virtual";
    request.workspace = workspace;
    return request;
}

void expectDone(const std::filesystem::path& file, RunId run) {
    const auto state = [&] {
        const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
        return currentState(workspace, workspace.run(run));
    };
    EXPECT_TRUE(
        QTest::qWaitFor([&] { return state() == RunState::Done || state() == RunState::Failed; }, 180000));
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    EXPECT_EQ(runStateName(state()), "done") << workspace.run(run).failure;
    EXPECT_TRUE(workspace.integrityProblems().empty());
    const auto steps = workspace.steps(run);
    EXPECT_EQ(static_cast<std::int64_t>(steps.size()), workspace.run(run).plannedSteps);
    for (const StepRecord& step : steps)
        EXPECT_TRUE(step.complete);
}

TEST(RunLauncher, StartsARunThatGoesOnWhenTheWindowCloses) {
    if (!hasPrograms())
        GTEST_SKIP() << "ballast-train is not built here";
    ballast::testing::TemporaryDirectory folder;
    const RunRequest request = smallRun(folder / "work.ballast", 2);
    std::optional<RunId> run;
    QString problem;
    {
        Workers workers;
        Session session(workers);
        MainWindow window(session);
        RunLauncher launcher(workers);
        QObject::connect(&launcher, &RunLauncher::launched, [&](qint64 id) { run = id; });
        QObject::connect(&launcher, &RunLauncher::failed, [&](const QString& text) { problem = text; });
        launcher.launch(request);
        ASSERT_TRUE(QTest::qWaitFor([&] { return run || !problem.isEmpty(); }, 60000));
        ASSERT_TRUE(run) << problem.toStdString();
    }
    expectDone(request.workspace, *run);
}

TEST(Studio, SaysInOneSentenceWhatItCantOpen) {
    if (!hasPrograms())
        GTEST_SKIP() << "the programs are not built here";
    ballast::testing::TemporaryDirectory folder;
    const auto ask = [&](const QStringList& words) {
        QProcess studio;
        studio.start(QString::fromStdString(findProgram("ballast-studio").string()), words);
        EXPECT_TRUE(studio.waitForFinished(60000));
        EXPECT_EQ(studio.exitStatus(), QProcess::NormalExit);
        EXPECT_EQ(studio.exitCode(), 2);
        return studio.readAllStandardError().toStdString();
    };
    const QString pictures = QString::fromStdString((folder / "pictures").string());
    const auto damaged = folder.write("damaged.ballast", "SQLite no more");
    EXPECT_NE(ask({"/absent.ballast"}).find("/absent.ballast"), std::string::npos);
    EXPECT_NE(
        ask({QString::fromStdString(damaged.string()), "--screenshots", pictures}).find("damaged.ballast"),
        std::string::npos);
    const auto scenario = folder.write("bad.json", R"({"packing": {"strategi": "wlb"}})");
    EXPECT_NE(ask({QString::fromStdString(scenario.string()), "--screenshots", pictures}).find("strategi"),
              std::string::npos);
    EXPECT_NE(ask({"--no-such-option"}).find("--no-such-option"), std::string::npos);
}

TEST(Studio, MayBeKilledAgainAndAgainWhileItFollowsARun) {
    if (!hasPrograms())
        GTEST_SKIP() << "ballast-train is not built here";
    ballast::testing::TemporaryDirectory folder;
    const RunRequest request = smallRun(folder / "work.ballast", 12);
    const RunId run = prepareRun(request);
    startRunner(request.workspace, run);
    for (const int delay : {150, 600, 1200}) {
        QProcess studio;
        studio.setProgram(QString::fromStdString(findProgram("ballast-studio").string()));
        studio.setArguments({QString::fromStdString(request.workspace.string())});
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), QString::fromStdString(folder.path().string()));
        studio.setProcessEnvironment(environment);
        studio.start();
        ASSERT_TRUE(studio.waitForStarted());
        QTest::qWait(delay);
        EXPECT_EQ(studio.state(), QProcess::Running) << studio.readAllStandardError().toStdString();
        studio.kill();
        studio.waitForFinished();
    }
    expectDone(request.workspace, run);
}

}  // namespace
}  // namespace ballast::studio
