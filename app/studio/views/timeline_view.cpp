// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/timeline_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/async/run_choice.h"
#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"
#include "app/studio/models/tables.h"
#include "app/studio/plots/timeline_plot.h"
#include "app/studio/session.h"

namespace ballast::studio {
namespace {

double secondsOf(const StepTimeline& step) {
    return toSeconds(step.end - step.begin).value();
}

QString titleOf(Clock clock, const QString& name, const StepTimeline& step, std::int64_t tokens) {
    QString title = QObject::tr("%1: %2, step %3: %4 for %5 tokens")
                        .arg(clockTitle(clock), name)
                        .arg(step.step)
                        .arg(formatSeconds(secondsOf(step)), formatCount(tokens));
    if (!step.complete)
        title += QObject::tr(" (partial: the run ended inside this step)");
    return title;
}

/// The step that shows most of what balancing does: of the full steps in which both packings hold about the
/// same tokens, so that their times compare, the one whose unbalanced micro-batches are the most uneven.
std::size_t mostTellingStep(const WhatIf& whatIf) {
    constexpr double kAlike = 0.1;
    const std::vector<PlanStep>& plan = whatIf.chosen->plan;
    std::size_t best = std::min<std::size_t>(2, plan.size() - 1);
    if (!whatIf.baseline)
        return best;
    const std::vector<PlanStep>& other = whatIf.baseline->plan;
    double worst = 0;
    for (std::size_t i = 0; i < std::min(plan.size(), other.size()); ++i) {
        const auto tokens = static_cast<double>(other[i].tokens());
        const double gap = std::abs(static_cast<double>(plan[i].tokens()) - tokens);
        const double imbalance = imbalanceDegree(packedStep(other[i]), whatIf.baseline->cost());
        if (plan[i].kind == StepKind::Full && gap <= kAlike * tokens && imbalance > worst) {
            worst = imbalance;
            best = i;
        }
    }
    return best;
}

bool hasMeasured(const RunList& list) {
    return std::any_of(list.runs.begin(), list.runs.end(), [](const RunRow& row) {
        return row.record.kind == RunKind::Measured && row.figures.steps > 0;
    });
}

}  // namespace

TimelineView::TimelineView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      source_(new QComboBox(this)),
      step_(new QComboBox(this)),
      newest_(new QCheckBox(tr("Follow the newest step"), this)),
      below_(new QCheckBox(tr("Comparison below"), this)),
      allTensor_(new QCheckBox(tr("All tp ranks"), this)),
      note_(new QLabel(this)),
      upper_(new TimelinePlot(this)),
      lower_(new TimelinePlot(this)),
      job_(session.workers()) {
    below_->setChecked(true);
    below_->setToolTip(
        tr("A run's stored prediction, or the scenario without balancing, on the same time axis"));
    allTensor_->setToolTip(
        tr("Ranks of one tensor-parallel group do the same work; by default the first is shown"));
    source_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    source_->addItem(tr("this scenario (simulated)"));
    auto* fit = new QPushButton(tr("Fit"), this);
    fit->setToolTip(tr("Show the whole step (F). Wheel or W and S zoom, dragging or A and D pan."));
    auto* bar = new QHBoxLayout;
    bar->addWidget(new QLabel(tr("Show"), this));
    bar->addWidget(source_);
    bar->addWidget(new QLabel(tr("Step"), this));
    bar->addWidget(step_);
    for (QWidget* widget : std::initializer_list<QWidget*>{newest_, below_, allTensor_, fit})
        bar->addWidget(widget);
    bar->addWidget(note_, 1);
    auto* column = new QVBoxLayout(this);
    column->addLayout(bar);
    column->addWidget(upper_, 21);  // the legend takes its share
    column->addWidget(lower_, 18);
    upper_->setEmptyText(tr("Simulating a step \u2026"));
    lower_->hide();
    connect(fit, &QPushButton::clicked, upper_, &TimelinePlot::fit);
    connectParts();
}

TimelineView::~TimelineView() = default;

void TimelineView::connectParts() {
    connect(upper_, &TimelinePlot::timeRangeChanged, lower_, &TimelinePlot::setTimeRange);
    connect(lower_, &TimelinePlot::timeRangeChanged, upper_, &TimelinePlot::setTimeRange);
    connect(below_, &QCheckBox::toggled, this, &TimelineView::draw);
    connect(allTensor_, &QCheckBox::toggled, this, &TimelineView::draw);
    connect(source_, &QComboBox::activated, this, [this] {
        sourcesChosen_ = true;
        step_->clear();
        reload();
    });
    connect(step_, &QComboBox::activated, this, [this] {
        newest_->setChecked(false);
        if (!sourceRun())
            wantedStep_ = step_->currentIndex();
        reload();
    });
    connect(newest_, &QCheckBox::toggled, this, &TimelineView::reload);
    connect(session_, &Session::runsChanged, this, &TimelineView::fillSources);
    connect(session_, &Session::workspaceChanged, this, [this] {
        sourcesChosen_ = false;
        source_->setCurrentIndex(0);
        step_->clear();
    });
    connect(session_, &Session::whatIfChanged, this, [this] {
        if (!sourceRun() && session_->problem().isEmpty())
            reload();
    });
}

std::optional<RunId> TimelineView::sourceRun() const {
    const QVariant run = source_->currentData();
    return run.isValid() ? std::optional<RunId>(run.toLongLong()) : std::nullopt;
}

void TimelineView::fillSources() {
    const std::optional<RunId> before = sourceRun();
    const auto list = session_->runs();
    const RunList none;
    const RunList& runs = list ? *list : none;
    bool active = false;
    std::vector<const RunRow*> drawable;
    for (const RunRow& row : runs.runs) {
        if (row.figures.steps > 0)
            drawable.push_back(&row);
        active = active || (before == row.record.id && row.state == RunState::Running);
    }
    // Left alone while nothing is new, so that a list that is being looked at does not close.
    if (source_->count() != static_cast<int>(drawable.size()) + 1 || !sourcesChosen_) {
        const QSignalBlocker quiet(source_);
        source_->clear();
        source_->addItem(tr("this scenario (simulated)"));
        for (const RunRow* row : drawable)
            source_->addItem(runTitle(row->record), static_cast<qlonglong>(row->record.id));
        std::optional<RunId> wanted = before;
        if (const std::optional<RunId> best = runToShow(runs); !sourcesChosen_ && best && hasMeasured(runs)) {
            wanted = best;
            sourcesChosen_ = true;
        }
        source_->setCurrentIndex(wanted ? std::max(0, source_->findData(static_cast<qlonglong>(*wanted)))
                                        : 0);
    }
    newest_->setEnabled(sourceRun().has_value());
    if (sourceRun() != before)
        step_->clear();
    if (sourceRun() != before || (active && newest_->isChecked()))
        reload();
}

TimelineView::Pair TimelineView::simulatedPair(const WhatIf& whatIf, int stepIndex) {
    Pair pair;
    const SimulatedScenario& chosen = *whatIf.chosen;
    for (const PlanStep& step : chosen.plan)
        pair.steps.push_back(step.step);
    const std::size_t index = stepIndex < 0
                                  ? mostTellingStep(whatIf)
                                  : std::min(static_cast<std::size_t>(stepIndex), chosen.plan.size() - 1);
    pair.layout = chosen.header().scenario.layout;
    pair.upper = simulateOne(chosen, index);
    pair.upperTitle = titleOf(
        Clock::Simulated,
        QString::fromStdString(whatIf.scenario.packing.strategy + " + " + whatIf.scenario.sharding.strategy),
        *pair.upper, chosen.plan[index].tokens());
    if (whatIf.baseline) {
        const std::size_t other = std::min(index, whatIf.baseline->plan.size() - 1);
        pair.lower = simulateOne(*whatIf.baseline, other);
        pair.lowerTitle =
            titleOf(Clock::Simulated, QObject::tr("without balancing, sequential + per-sequence"),
                    *pair.lower, whatIf.baseline->plan[other].tokens());
    }
    return pair;
}

TimelineView::Pair TimelineView::storedPair(const std::filesystem::path& workspace, RunId run,
                                            std::optional<std::int64_t> step) {
    const StoredTimeline stored = readTimeline(workspace, run, step);
    Pair pair;
    pair.steps = stored.steps;
    pair.layout = stored.record.layout;
    pair.upper = stored.step;
    const QString name =
        QStringLiteral("run %1, %2").arg(run).arg(QString::fromStdString(stored.record.name));
    pair.upperTitle = titleOf(stored.record.clock, name, *stored.step, stored.tokens);
    pair.lower = stored.prediction;
    if (stored.prediction)
        pair.lowerTitle =
            titleOf(Clock::Simulated, QObject::tr("its stored prediction, run %1").arg(*stored.predictionRun),
                    *stored.prediction, stored.tokens);
    else if (stored.record.kind == RunKind::Measured)
        pair.note = QObject::tr("no stored prediction of this step");
    return pair;
}

void TimelineView::reload() {
    const auto onError = [this](const QString& sentence) {
        upper_->clearStep();
        upper_->setEmptyText(sentence);
        lower_->hide();
    };
    const auto onResult = [this](Pair pair) { take(std::move(pair)); };
    if (const std::optional<RunId> run = sourceRun()) {
        std::optional<std::int64_t> step;
        if (newest_->isChecked())
            step = std::nullopt;
        else if (step_->currentIndex() >= 0)
            step = step_->currentData().toLongLong();
        job_.start(
            [file = session_->workspace(), run = *run, step, newest = newest_->isChecked()](const auto& job) {
                Pair pair = storedPair(file, run, step);
                if (newest && !pair.steps.empty() && pair.upper->step != pair.steps.back())
                    pair = storedPair(file, run, pair.steps.back());
                job.deliver(std::move(pair));
            },
            onResult, onError);
        return;
    }
    const auto whatIf = session_->whatIf();
    if (!whatIf || !whatIf->chosen)
        return;
    job_.start([whatIf, index = wantedStep_](const auto& job) { job.deliver(simulatedPair(*whatIf, index)); },
               onResult, onError);
}

void TimelineView::take(Pair pair) {
    pair_ = std::move(pair);
    {
        const QSignalBlocker quiet(step_);
        step_->clear();
        for (const std::int64_t step : pair_.steps)
            step_->addItem(QString::number(step), static_cast<qlonglong>(step));
        step_->setCurrentIndex(step_->findData(static_cast<qlonglong>(pair_.upper->step)));
    }
    note_->setText(pair_.note);
    draw();
}

void TimelineView::draw() {
    if (!pair_.upper)
        return;
    const bool two = below_->isChecked() && pair_.lower;
    const double full = std::max(secondsOf(*pair_.upper), two ? secondsOf(*pair_.lower) : 0);
    allTensor_->setEnabled(pair_.layout.tp > 1);
    upper_->setEmptyText({});
    upper_->setTitle(pair_.upperTitle);
    upper_->setStep(pair_.upper, pair_.layout, allTensor_->isChecked(), full);
    lower_->setVisible(two);
    if (!two) {
        upper_->setLegendOf({pair_.upper.get()});
        return;
    }
    upper_->setLegendOf({pair_.upper.get(), pair_.lower.get()});
    lower_->setTitle(pair_.lowerTitle);
    lower_->setStep(pair_.lower, pair_.layout, allTensor_->isChecked(), full);
    lower_->setTimeRange(upper_->rangeFrom(), upper_->rangeTo());
}

}  // namespace ballast::studio
