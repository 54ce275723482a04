// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/main_window.h"

#include <QAction>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QIcon>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolBar>
#include <QVBoxLayout>

#include "app/studio/launch/launch_dialog.h"
#include "app/studio/launch/run_launcher.h"
#include "app/studio/session.h"
#include "app/studio/views/compare_view.h"
#include "app/studio/views/lengths_view.h"
#include "app/studio/views/packing_view.h"
#include "app/studio/views/result_strip.h"
#include "app/studio/views/runs_view.h"
#include "app/studio/views/scenario_form.h"
#include "app/studio/views/scenario_view.h"
#include "app/studio/views/timeline_view.h"
#include "core/base/error.h"

namespace ballast::studio {
namespace {

constexpr int kFirstRunView = 4;  // runs and compare look at the workspace, not at the scenario

QAction* addMenuAction(QMenu* menu, const char* icon, const QString& text, const QKeySequence& keys) {
    QAction* action =
        menu->addAction(QIcon(QStringLiteral(":/icons/%1.svg").arg(QString::fromLatin1(icon))), text);
    action->setShortcut(keys);
    return action;
}

}  // namespace

MainWindow::MainWindow(Session& session, QWidget* parent)
    : QMainWindow(parent),
      session_(&session),
      tabs_(new QTabWidget(this)),
      dock_(new QDockWidget(tr("Scenario"), this)),
      form_(new ScenarioForm(session)),
      strip_(new ResultStrip(session, this)),
      timeline_(new TimelineView(session, this)),
      runs_(new RunsView(session, this)),
      compare_(new CompareView(session, this)),
      launcher_(new RunLauncher(session.workers(), this)),
      busy_(new QLabel(this)) {
    auto* scroll = new QScrollArea(dock_);
    scroll->setWidget(form_);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setMinimumWidth(form_->minimumSizeHint().width() +
                            scroll->verticalScrollBar()->sizeHint().width());
    dock_->setObjectName(QStringLiteral("scenario"));
    dock_->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
    dock_->setWidget(scroll);
    addDockWidget(Qt::LeftDockWidgetArea, dock_);
    tabs_->setDocumentMode(true);
    tabs_->addTab(new ScenarioView(session, this), tr("Scenario"));
    tabs_->addTab(new LengthsView(session, this), tr("Lengths"));
    tabs_->addTab(new PackingView(session, this), tr("Packing"));
    tabs_->addTab(timeline_, tr("Timeline"));
    tabs_->addTab(runs_, tr("Runs"));
    tabs_->addTab(compare_, tr("Compare"));
    auto* body = new QWidget(this);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(strip_);
    column->addWidget(tabs_, 1);
    setCentralWidget(body);
    buildMenus();
    statusBar()->addPermanentWidget(busy_);
    connect(tabs_, &QTabWidget::currentChanged, this, &MainWindow::viewChanged);
    connect(&session, &Session::message, this,
            [this](const QString& text) { statusBar()->showMessage(text, 15000); });
    connect(&session, &Session::workspaceChanged, this, &MainWindow::showTitle);
    connect(&session, &Session::scenarioChanged, this, &MainWindow::showTitle);
    connect(&session.workers(), &Workers::activeChanged, this,
            [this](int active) { busy_->setText(active > 0 ? tr("computing \u2026") : QString()); });
    connect(runs_, &RunsView::launchRequested, this, &MainWindow::launch);
    connect(launcher_, &RunLauncher::launched, this, [this](qint64 run) {
        statusBar()->showMessage(tr("Run %1 has started.").arg(run), 15000);
        session_->selectRun(run);
        session_->refreshRuns();
        showView(kFirstRunView);
    });
    connect(launcher_, &RunLauncher::failed, this, &MainWindow::complain);
    resize(1600, 900);
    setWindowIcon(QIcon(QStringLiteral(":/icons/ballast.svg")));
    showTitle();
}

MainWindow::~MainWindow() = default;

QStringList MainWindow::viewNames() {
    return {QStringLiteral("scenario"), QStringLiteral("lengths"), QStringLiteral("packing"),
            QStringLiteral("timeline"), QStringLiteral("runs"),    QStringLiteral("compare")};
}

void MainWindow::showView(int index) {
    tabs_->setCurrentIndex(index);
}

QWidget* MainWindow::view(int index) const {
    return tabs_->widget(index);
}

void MainWindow::viewChanged(int index) {
    const bool plan = index < kFirstRunView;
    dock_->setVisible(plan);
    strip_->setVisible(plan);
}

void MainWindow::buildMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    QAction* open = addMenuAction(file, "open", tr("&Open workspace or scenario \u2026"), QKeySequence::Open);
    QAction* create = addMenuAction(file, "workspace", tr("&New workspace \u2026"), QKeySequence::New);
    QAction* save = addMenuAction(file, "save", tr("&Save scenario as \u2026"), QKeySequence::Save);
    file->addSeparator();
    QAction* quit = file->addAction(tr("&Quit"));
    quit->setShortcut(QKeySequence::Quit);
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    QAction* store =
        addMenuAction(run, "store", tr("S&tore simulation in the workspace"), QKeySequence(tr("Ctrl+T")));
    QAction* start = addMenuAction(run, "run", tr("&Launch a run \u2026"), QKeySequence(tr("F5")));
    QMenu* views = menuBar()->addMenu(tr("&View"));
    for (int i = 0; i < tabs_->count(); ++i) {
        QAction* action = views->addAction(tabs_->tabText(i));
        action->setShortcut(QKeySequence(tr("Ctrl+%1").arg(i + 1)));
        connect(action, &QAction::triggered, this, [this, i] { showView(i); });
    }
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    QAction* about = help->addAction(tr("&About Ballast"));
    auto* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("main"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->setIconSize(QSize(18, 18));
    for (QAction* action : {open, create, save, store, start}) {
        bar->addAction(action);
        action->setToolTip(QStringLiteral("%1 (%2)").arg(
            action->text().remove(QLatin1Char('&')), action->shortcut().toString(QKeySequence::NativeText)));
    }
    connect(open, &QAction::triggered, this, &MainWindow::openByDialog);
    connect(create, &QAction::triggered, this, &MainWindow::newWorkspace);
    connect(save, &QAction::triggered, this, &MainWindow::saveScenario);
    connect(quit, &QAction::triggered, this, &QWidget::close);
    connect(store, &QAction::triggered, session_, &Session::storeSimulation);
    connect(start, &QAction::triggered, this, &MainWindow::launch);
    connect(about, &QAction::triggered, this, [this] {
        QMessageBox::about(
            this, tr("About Ballast"),
            tr("Ballast plans and profiles 4D-parallel training on long documents. The studio is free "
               "software under the GNU General Public License, version 3 or later."));
    });
}

void MainWindow::showTitle() {
    const QString scenario =
        QString::fromStdString(session_->scenario().model + " on " + session_->scenario().cluster);
    const QString workspace = session_->workspace().empty()
                                  ? tr("no workspace")
                                  : QString::fromStdString(session_->workspace().filename().string());
    setWindowTitle(QStringLiteral("%1 \u2013 %2 \u2013 Ballast").arg(scenario, workspace));
}

void MainWindow::complain(const QString& sentence) {
    statusBar()->showMessage(sentence, 30000);
    QMessageBox::warning(this, tr("Ballast"), sentence);
}

void MainWindow::openPath(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path))
        throw Error(path.string() + ": no such file; expected a workspace (.ballast) or a scenario (.json)");
    if (path.extension() == ".json") {
        session_->setScenario(loadScenario(path));
        return;
    }
    Workspace::open(path, Workspace::Mode::ReadOnly);  // refuses what is no workspace before anything changes
    session_->openWorkspace(std::filesystem::absolute(path));
}

void MainWindow::rememberWorkspace() const {
    if (!session_->workspace().empty())
        QSettings().setValue(QStringLiteral("lastWorkspace"),
                             QString::fromStdString(session_->workspace().string()));
}

void MainWindow::openByDialog() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open"), {}, tr("Workspaces and scenarios (*.ballast *.json);;All files (*)"));
    if (file.isEmpty())
        return;
    try {
        openPath(file.toStdString());
        rememberWorkspace();
    } catch (const Error& error) {
        complain(QString::fromUtf8(error.what()));
    }
}

void MainWindow::newWorkspace() {
    QString file = QFileDialog::getSaveFileName(this, tr("New workspace"), QStringLiteral("work.ballast"),
                                                tr("Workspaces (*.ballast)"));
    if (file.isEmpty())
        return;
    if (!file.endsWith(QStringLiteral(".ballast")))
        file += QStringLiteral(".ballast");
    try {
        Workspace::open(file.toStdString(), Workspace::Mode::ReadWrite)
            .addScenario(scenarioJson(session_->scenario()), std::nullopt, "first");
        openPath(file.toStdString());
        rememberWorkspace();
    } catch (const Error& error) {
        complain(QString::fromUtf8(error.what()));
    }
}

void MainWindow::saveScenario() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save scenario"), QStringLiteral("scenario.json"), tr("Scenarios (*.json)"));
    if (path.isEmpty())
        return;
    QFile file(path);
    const QByteArray text = QByteArray::fromStdString(scenarioJson(session_->scenario()));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.flush())
        complain(tr("%1: %2").arg(path, file.errorString()));
}

void MainWindow::launch() {
    if (session_->workspace().empty()) {
        complain(tr("Open or create a workspace first; a run is kept there."));
        return;
    }
    RunId next = 1;
    for (const RunRow& row : session_->runRows())
        next = std::max(next, row.record.id + 1);
    LaunchDialog dialog(session_->scenario(), session_->workspace(), next + 1, this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    statusBar()->showMessage(tr("Planning the run and storing its prediction \u2026"));
    launcher_->launch(dialog.request());
}

}  // namespace ballast::studio
