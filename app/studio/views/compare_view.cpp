// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/compare_view.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/async/run_choice.h"
#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"
#include "app/studio/models/table_model.h"
#include "app/studio/models/tables.h"
#include "app/studio/plots/bar_plot.h"
#include "app/studio/plots/line_plot.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/session.h"
#include "app/studio/views/table_view.h"

namespace ballast::studio {
namespace {

constexpr std::size_t kMostBars = 12;

QColor lessColour() {
    return QColor(0x00, 0x9e, 0x73);
}

QColor moreColour() {
    return QColor(0xcc, 0x33, 0x11);
}

/// Complete steps only.
Line stepLine(const std::vector<StepRecord>& steps, const QString& name, const QColor& colour) {
    Line line{name, colour, {}, {}};
    for (const StepRecord& step : steps) {
        if (!step.complete)
            continue;
        line.x.push_back(static_cast<double>(step.step));
        line.y.push_back(toSeconds(step.end - step.begin).value());
    }
    return line;
}

Line lossLine(const std::vector<StepRecord>& steps, const QString& name, const QColor& colour) {
    Line line{name, colour, {}, {}};
    for (const StepRecord& step : steps) {
        if (!step.complete || !step.loss)
            continue;
        line.x.push_back(static_cast<double>(step.step));
        line.y.push_back(*step.loss);
    }
    return line;
}

Line distributionLine(Line times) {
    std::sort(times.y.begin(), times.y.end());
    times.x = times.y;
    for (std::size_t i = 0; i < times.y.size(); ++i)
        times.y[i] = 100 * static_cast<double>(i + 1) / static_cast<double>(times.y.size());
    times.stepped = true;
    return times;
}

BarChart deltaChart(std::vector<Delta> deltas) {
    BarChart chart;
    chart.horizontal = true;
    chart.scale = ValueScale::Seconds;
    chart.valueAxis = QObject::tr("Change per million tokens");
    if (deltas.size() > kMostBars)
        deltas.resize(kMostBars);
    for (const Delta& delta : deltas) {
        chart.categories.push_back(delta.name);
        Bar bar;
        bar.segments = {{0, delta.change(), delta.change() < 0 ? lessColour() : moreColour(), false,
                         QObject::tr("%1\nbaseline %2, other %3 per million tokens")
                             .arg(delta.name, formatSeconds(delta.baseline), formatSeconds(delta.other))}};
        bar.note = (delta.change() > 0 ? QStringLiteral("+") : QStringLiteral("\u2212")) +
                   formatSeconds(std::abs(delta.change()));
        chart.bars.push_back({bar});
    }
    chart.legend = {{QObject::tr("less than the baseline"), lessColour()},
                    {QObject::tr("more"), moreColour()}};
    return chart;
}

Bar plainBar(double seconds, const QColor& colour, bool hatched, const QString& name) {
    Bar bar;
    bar.segments = {
        {0, seconds, colour, hatched, QStringLiteral("%1: %2").arg(name, formatSeconds(seconds))}};
    bar.note = formatSeconds(seconds);
    return bar;
}

}  // namespace

CompareView::CompareView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      pages_(new QStackedWidget(this)),
      baseline_(new QComboBox(this)),
      other_(new QComboBox(this)),
      verdict_(new QLabel(this)),
      figures_(new TableModel(figureColumns(tr("Baseline"), tr("Other")), this)),
      differences_(new TableModel(differenceColumns(tr("Baseline"), tr("Other")), this)),
      figureTable_(new RecordTable(figures_, this)),
      differenceTable_(new RecordTable(differences_, this)),
      times_(new LinePlot(tr("Step time, step by step"), this)),
      distribution_(new LinePlot(tr("Distribution of step times"), this)),
      loss_(new LinePlot(tr("Loss"), this)),
      kinds_(new BarPlot(tr("Change by kind, largest first"), this)),
      ranks_(new BarPlot(tr("Change of compute by rank, largest first"), this)),
      prediction_(new BarPlot(tr("Predicted against measured"), this)),
      job_(session.workers()) {
    verdict_->setWordWrap(true);
    for (QComboBox* box : {baseline_, other_}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        connect(box, &QComboBox::activated, this, [this] {
            chosen_ = true;
            reload();
        });
    }
    figureTable_->stretchColumn(0);
    differenceTable_->stretchColumn(0);
    buildPages();
    connect(&session, &Session::runsChanged, this, &CompareView::fillRuns);
    connect(&session, &Session::workspaceChanged, this, [this] {
        shown_.reset();
        chosen_ = false;
        baseline_->clear();
        other_->clear();
    });
    fillRuns();
}

CompareView::~CompareView() = default;

QLayout* CompareView::arrangeParts() {
    auto* side = new QVBoxLayout;
    side->addWidget(verdict_);
    side->addWidget(new QLabel(tr("<b>Figures</b>"), this));
    side->addWidget(figureTable_, 3);
    side->addWidget(new QLabel(tr("<b>Settings that differ</b>"), this));
    side->addWidget(differenceTable_, 2);
    auto* grid = new QGridLayout;
    grid->setSpacing(12);
    grid->addWidget(times_, 0, 0);
    grid->addWidget(distribution_, 0, 1);
    grid->addWidget(loss_, 0, 2);
    grid->addWidget(kinds_, 1, 0);
    grid->addWidget(ranks_, 1, 1);
    grid->addWidget(prediction_, 1, 2);
    for (int column = 0; column < 3; ++column)
        grid->setColumnStretch(column, 1);
    for (int row = 0; row < 2; ++row)
        grid->setRowStretch(row, 1);
    auto* body = new QHBoxLayout;
    body->setSpacing(12);
    body->addLayout(side, 2);
    body->addLayout(grid, 5);
    return body;
}

void CompareView::buildPages() {
    auto* swap = new QPushButton(tr("Swap"), this);
    connect(swap, &QPushButton::clicked, this, [this] {
        const int index = baseline_->currentIndex();
        baseline_->setCurrentIndex(other_->currentIndex());
        other_->setCurrentIndex(index);
        chosen_ = true;
        reload();
    });
    auto* bar = new QHBoxLayout;
    bar->addWidget(new QLabel(tr("Baseline"), this));
    bar->addWidget(baseline_);
    bar->addWidget(new QLabel(tr("against"), this));
    bar->addWidget(other_);
    bar->addWidget(swap);
    bar->addStretch();
    auto* page = new QWidget(this);
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(bar);
    column->addLayout(arrangeParts(), 1);
    auto* missing =
        new QLabel(tr("<h3>Nothing to compare yet</h3>Comparing takes two runs with at least one complete "
                      "step in one workspace.<br>Open a workspace that has them, store two simulations "
                      "(Ctrl+T), or train twice (F5)."),
                   this);
    missing->setAlignment(Qt::AlignCenter);
    pages_->addWidget(page);
    pages_->addWidget(missing);
    (new QVBoxLayout(this))->addWidget(pages_);
}

void CompareView::fillRuns() {
    const auto list = session_->runs();
    std::vector<const RunRow*> comparable;
    for (const RunRow& row : session_->runRows()) {
        if (row.figures.steps > 0)
            comparable.push_back(&row);
    }
    pages_->setCurrentIndex(comparable.size() < 2 ? 1 : 0);
    // Left alone while nothing is new, so that a list that is being looked at does not close.
    if (baseline_->count() != static_cast<int>(comparable.size())) {
        for (QComboBox* box : {baseline_, other_}) {
            const QVariant before = box->currentData();
            box->clear();
            for (const RunRow* row : comparable)
                box->addItem(runTitle(row->record), static_cast<qlonglong>(row->record.id));
            box->setCurrentIndex(chosen_ ? box->findData(before) : -1);
        }
    }
    if (!list || comparable.size() < 2)
        return;
    if (baseline_->currentIndex() < 0 || other_->currentIndex() < 0) {
        if (const auto pair = pairToCompare(*list)) {
            baseline_->setCurrentIndex(baseline_->findData(static_cast<qlonglong>(pair->first)));
            other_->setCurrentIndex(other_->findData(static_cast<qlonglong>(pair->second)));
        }
    }
    if (isOutdated(comparable))
        reload();
}

bool CompareView::isOutdated(const std::vector<const RunRow*>& rows) const {
    const auto differs = [&rows](const RunFigures& shown, const QVariant& id) {
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&id](const RunRow* one) { return one->record.id == id.toLongLong(); });
        return row == rows.end() || shown.run.id != (*row)->record.id || shown.steps != (*row)->figures.steps;
    };
    return !shown_ || differs(shown_->comparison.baseline, baseline_->currentData()) ||
           differs(shown_->comparison.other, other_->currentData());
}

void CompareView::reload() {
    if (baseline_->currentIndex() < 0 || other_->currentIndex() < 0 || session_->workspace().empty())
        return;
    job_.start([file = session_->workspace(), a = baseline_->currentData().toLongLong(),
                b = other_->currentData().toLongLong()](
                   const auto& job) { job.deliver(readComparison(file, a, b)); },
               [this](RunComparison comparison) {
                   shown_ = std::make_shared<const RunComparison>(std::move(comparison));
                   refresh();
               },
               [this](const QString& sentence) { verdict_->setText(sentence); });
}

void CompareView::refresh() {
    showVerdict();
    figures_->setRows(figureRows(*shown_));
    differences_->setRows(
        differenceRows(shown_->comparison.baseline.run.scenario, shown_->comparison.other.run.scenario));
    showSteps();
    showDeltas();
    showPrediction();
}

void CompareView::showVerdict() {
    const Comparison& comparison = shown_->comparison;
    QString text;
    if (comparison.comparable) {
        text = tr("<b>Comparable.</b> ");
    } else {
        QStringList reasons;
        for (const std::string& reason : comparison.whyNot)
            reasons << QString::fromStdString(reason).toHtmlEscaped();
        text =
            tr("<b style='color:#b00020'>Not comparable:</b> %1. ").arg(reasons.join(QStringLiteral("; ")));
    }
    text += tr("The other run takes <b>%1</b> seconds per token")
                .arg(formatChange(comparison.secondsPerTokenDelta));
    if (comparison.noise > 0)
        text += std::abs(comparison.secondsPerTokenDelta) > comparison.noise
                    ? tr(", more than the noise of %1.").arg(formatPercent(comparison.noise))
                    : tr(", within the noise of %1.").arg(formatPercent(comparison.noise));
    else
        text += tr("; the noise is not known (no repeated run of one plan).");
    verdict_->setText(text);
}

void CompareView::showSteps() {
    const QString a = tr("baseline: run %1").arg(shown_->comparison.baseline.run.id);
    const QString b = tr("other: run %1").arg(shown_->comparison.other.run.id);
    const Line before = stepLine(shown_->baselineSteps, a, baselineColour());
    const Line after = stepLine(shown_->otherSteps, b, scenarioColour());
    for (PlotWidget* plot : std::initializer_list<PlotWidget*>{times_, distribution_, kinds_})
        plot->setEmptyText({});
    LineChart times;
    times.xAxis = tr("Step");
    times.yAxis = tr("Step time");
    times.yScale = ValueScale::Seconds;
    times.fromZero = true;
    times.lines = {before, after};
    times_->setChart(std::move(times));
    LineChart distribution;
    distribution.xAxis = tr("Step time");
    distribution.xScale = ValueScale::Seconds;
    distribution.yAxis = tr("Steps at most this long (%)");
    distribution.wholeX = false;
    distribution.fromZero = true;
    distribution.lines = {distributionLine(before), distributionLine(after)};
    distribution_->setChart(std::move(distribution));
    LineChart loss;
    loss.xAxis = tr("Step");
    loss.yAxis = tr("Cross entropy (nats a token)");
    for (Line line : {lossLine(shown_->baselineSteps, a, baselineColour()),
                      lossLine(shown_->otherSteps, b, scenarioColour())}) {
        if (!line.x.empty())
            loss.lines.push_back(std::move(line));
    }
    loss_->setEmptyText(loss.lines.empty() ? tr("Neither run trained, so neither has a loss.") : QString());
    loss_->setChart(std::move(loss));
}

void CompareView::showDeltas() {
    kinds_->setChart(deltaChart(kindDeltas(*shown_)));
    const std::vector<Delta> ranks = rankDeltas(*shown_);
    ranks_->setEmptyText(ranks.empty() ? tr("The runs have different numbers of ranks.") : QString());
    ranks_->setChart(deltaChart(ranks));
}

void CompareView::showPrediction() {
    BarChart chart;
    chart.horizontal = true;
    chart.scale = ValueScale::Seconds;
    chart.valueAxis = tr("Time of all ranks and steps");
    const auto add = [&chart](const QString& name, double predicted, double measured, const QColor& colour) {
        chart.categories.push_back(name);
        chart.bars.push_back({plainBar(predicted, colour, true, QObject::tr("predicted")),
                              plainBar(measured, colour, false, QObject::tr("measured"))});
    };
    const auto addRun = [&](const std::optional<PredictionError>& error, RunId run, const QColor& colour) {
        if (!error)
            return;
        add(tr("compute, run %1").arg(run), error->predictedComputeSeconds, error->measuredComputeSeconds,
            colour);
        add(tr("waiting, run %1").arg(run), error->predictedWaitingSeconds, error->measuredWaitingSeconds,
            colour);
    };
    addRun(shown_->baselinePrediction, shown_->comparison.baseline.run.id, baselineColour());
    addRun(shown_->otherPrediction, shown_->comparison.other.run.id, scenarioColour());
    chart.legend = {{tr("predicted"), QColor(0x40, 0x40, 0x40), LegendEntry::Look::Hatched},
                    {tr("measured"), QColor(0x40, 0x40, 0x40)}};
    prediction_->setEmptyText(
        chart.bars.empty() ? tr("Neither run is a measured one with a stored prediction.") : QString());
    prediction_->setChart(std::move(chart));
}

}  // namespace ballast::studio
