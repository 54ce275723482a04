// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/runs_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"
#include "app/studio/models/table_model.h"
#include "app/studio/models/tables.h"
#include "app/studio/plots/line_plot.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/session.h"
#include "app/studio/views/table_view.h"
#include "core/dispatch/runner.h"

namespace ballast::studio {
namespace {

constexpr int kPollMilliseconds = 400;
constexpr int kMostLogLines = 50000;

bool isActive(RunState state) {
    return state == RunState::Planned || state == RunState::Queued || state == RunState::Running ||
           state == RunState::Stopping;
}

}  // namespace

RunsView::RunsView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      pages_(new QStackedWidget(this)),
      missing_(new QLabel(this)),
      runs_(new TableModel(runColumns(), this)),
      table_(new RecordTable(runs_, this)),
      summary_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      launch_(new QPushButton(tr("Launch a run \u2026"), this)),
      stop_(new QPushButton(tr("Stop after this step"), this)),
      loss_(new LinePlot(tr("Loss"), this)),
      times_(new LinePlot(tr("Step time"), this)),
      log_(new QPlainTextEdit(this)),
      detailJob_(session.workers()),
      stopJob_(session.workers()) {
    table_->stretchColumn(1);
    log_->setReadOnly(true);
    log_->setMaximumBlockCount(kMostLogLines);
    log_->setLineWrapMode(QPlainTextEdit::NoWrap);
    log_->setPlaceholderText(tr("This run has written no log."));
    QFont mono(QStringLiteral("monospace"));
    mono.setStyleHint(QFont::Monospace);
    log_->setFont(mono);
    progress_->setMaximumWidth(260);
    stop_->setEnabled(false);
    summary_->setWordWrap(true);
    buildPages();
    connect(launch_, &QPushButton::clicked, this, &RunsView::launchRequested);
    connect(stop_, &QPushButton::clicked, this, &RunsView::stopSelected);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) {
                if (now.isValid())
                    session_->selectRun(runs_->data(runs_->index(now.row(), 0), Qt::UserRole).toLongLong());
            });
    connect(&session, &Session::runsChanged, this, &RunsView::showRuns);
    connect(&session, &Session::selectedRunChanged, this, &RunsView::showSelection);
    connect(&timer_, &QTimer::timeout, this, &RunsView::poll);
    timer_.setInterval(kPollMilliseconds);
    showRuns();
}

RunsView::~RunsView() = default;

void RunsView::buildPages() {
    auto* bar = new QHBoxLayout;
    bar->addWidget(launch_);
    bar->addWidget(stop_);
    bar->addWidget(progress_);
    bar->addWidget(summary_, 1);
    auto* plots = new QHBoxLayout;
    plots->setSpacing(12);
    plots->addWidget(loss_, 1);
    plots->addWidget(times_, 1);
    auto* logColumn = new QVBoxLayout;
    auto* logTitle = new QLabel(tr("<b>Log</b>"), this);
    logColumn->addWidget(logTitle);
    logColumn->addWidget(log_, 1);
    plots->addLayout(logColumn, 1);
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(table_, 2);
    column->addLayout(bar);
    column->addLayout(plots, 3);
    missing_->setAlignment(Qt::AlignCenter);
    missing_->setWordWrap(true);
    pages_->addWidget(page);
    pages_->addWidget(missing_);
    (new QVBoxLayout(this))->addWidget(pages_);
}

const RunRow* RunsView::selectedRow() const {
    if (!session_->runs() || !session_->selectedRun())
        return nullptr;
    for (const RunRow& row : session_->runs()->runs) {
        if (row.record.id == *session_->selectedRun())
            return &row;
    }
    return nullptr;
}

void RunsView::showRuns() {
    const auto list = session_->runs();
    runs_->setRows(list ? runRows(*list) : std::vector<std::vector<Cell>>{});
    bool active = false;
    for (const RunRow& row : session_->runRows())
        active = active || isActive(row.state);
    if (active)
        timer_.start();
    else
        timer_.stop();
    pages_->setCurrentIndex(runs_->rowCount() > 0 ? 0 : 1);
    showSelection();
}

void RunsView::showSelection() {
    const RunRow* row = selectedRow();
    stop_->setEnabled(row && row->record.kind == RunKind::Measured && isActive(row->state));
    if (!row) {
        detail_ = {};
        shownLines_ = 0;
        log_->clear();
        progress_->setVisible(false);
        summary_->setText(tr("Select a run."));
        if (!session_->workspaceProblem().isEmpty())
            missing_->setText(session_->workspaceProblem());
        else if (session_->workspace().empty())
            missing_->setText(
                tr("<h3>No workspace is open</h3>A workspace is one file that keeps scenarios, simulations "
                   "and training runs.<br>Create one (Ctrl+N) or open one (Ctrl+O)."));
        else
            missing_->setText(
                tr("<h3>This workspace has no runs yet</h3>Store the simulation of the scenario (Ctrl+T) "
                   "or train it (F5)."));
        loss_->setEmptyText(tr("No run is selected."));
        times_->setEmptyText(tr("No run is selected."));
        return;
    }
    const QSignalBlocker quiet(table_->selectionModel());
    for (int index = 0; index < runs_->rowCount(); ++index) {
        if (runs_->data(runs_->index(index, 0), Qt::UserRole).toLongLong() == row->record.id)
            table_->selectRow(index);
    }
    table_->viewport()->update();
    readDetail();
}

void RunsView::poll() {
    if (!session_->isRefreshing())
        session_->refreshRuns();
}

void RunsView::readDetail() {
    const RunRow* row = selectedRow();
    if (!row || (reading_ && detail_.run == row->record.id))
        return;
    reading_ = true;
    detailJob_.start([file = session_->workspace(), run = row->record.id,
                      known = detail_](const auto& job) { job.deliver(readRunDetail(file, run, known)); },
                     [this](RunDetail detail) {
                         reading_ = false;
                         detail_ = std::move(detail);
                         showDetail();
                     },
                     [this](const QString& sentence) {
                         reading_ = false;
                         summary_->setText(sentence);
                     });
}

void RunsView::showDetail() {
    const RunRow* row = selectedRow();
    if (!row || row->record.id != detail_.run)
        return;
    const RunRecord& record = row->record;
    Line loss{tr("loss"), scenarioColour(), {}, {}};
    Line times{tr("step time"), scenarioColour(), {}, {}};
    double tokens = 0;
    for (const StepRecord& step : detail_.steps) {
        if (!step.complete)
            continue;
        times.x.push_back(static_cast<double>(step.step));
        times.y.push_back(toSeconds(step.end - step.begin).value());
        tokens += static_cast<double>(step.tokens);
        if (step.loss) {
            loss.x.push_back(static_cast<double>(step.step));
            loss.y.push_back(*step.loss);
        }
    }
    const auto steps = static_cast<int>(times.x.size());
    const bool simulated = record.kind == RunKind::Simulated;
    loss_->setEmptyText(!loss.x.empty() ? QString()
                        : simulated     ? tr("A simulation trains nothing, so it has no loss.")
                                        : tr("No step with a loss yet."));
    times_->setEmptyText(times.x.empty() ? tr("No complete step yet.") : QString());
    LineChart lossChart;
    lossChart.xAxis = tr("Step");
    lossChart.yAxis = tr("Cross entropy (nats a token)");
    lossChart.lines = {loss};
    loss_->setChart(std::move(lossChart));
    LineChart timeChart;
    timeChart.xAxis = tr("Step");
    timeChart.yAxis = tr("Step time, %1").arg(clockTitle(record.clock).toLower());
    timeChart.yScale = ValueScale::Seconds;
    timeChart.fromZero = true;
    timeChart.lines = {times};
    times_->setChart(std::move(timeChart));
    progress_->setVisible(record.plannedSteps > 0);
    progress_->setRange(0, static_cast<int>(record.plannedSteps));
    progress_->setValue(steps);
    progress_->setFormat(tr("%v of %m steps"));
    QString summary = tr("<b>%1</b>, %2, %3: %4 complete steps, %5 tokens.")
                          .arg(runTitle(record).toHtmlEscaped(), stateTitle(detail_.state),
                               clockTitle(record.clock).toLower(), formatCount(steps),
                               formatCount(static_cast<std::int64_t>(tokens)));
    if (record.tokensAre == "synthetic")
        summary += tr(" Synthetic tokens.");
    if (!detail_.failure.empty())
        summary += QLatin1Char(' ') + QString::fromStdString(detail_.failure).toHtmlEscaped();
    summary_->setText(summary);
    showLog();
}

void RunsView::showLog() {
    if (shownLines_ > detail_.log.size() || logRun_ != detail_.run ||
        (shownLines_ > 0 && detail_.log.front().text != logBegin_)) {
        log_->clear();
        shownLines_ = 0;
    }
    logRun_ = detail_.run;
    logBegin_ = detail_.log.empty() ? std::string() : detail_.log.front().text;
    for (; shownLines_ < detail_.log.size(); ++shownLines_) {
        const LogLine& line = detail_.log[shownLines_];
        const QString from = line.rank >= 0 ? tr("rank %1").arg(line.rank) : tr("runner");
        log_->appendPlainText(QStringLiteral("%1  %2").arg(from, -8).arg(QString::fromStdString(line.text)));
    }
}

void RunsView::stopSelected() {
    const RunRow* row = selectedRow();
    if (!row)
        return;
    stop_->setEnabled(false);
    stopJob_.start(
        [file = session_->workspace(), run = row->record.id](const auto& job) {
            requestStop(Workspace::open(file, Workspace::Mode::ReadWrite), run);
            job.deliver(true);
        },
        [this](bool) { emit session_->message(tr("The run stops after the step it is in.")); },
        [this](const QString& sentence) { emit session_->message(sentence); });
}

}  // namespace ballast::studio
