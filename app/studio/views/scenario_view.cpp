// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/scenario_view.h"

#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "app/studio/models/format.h"
#include "app/studio/models/span_names.h"
#include "app/studio/plots/bar_plot.h"
#include "app/studio/plots/line_plot.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/session.h"

namespace ballast::studio {
namespace {

constexpr qsizetype kMostNotices = 5;

/// A step's mean seconds as segments: each kind, then waiting, then pipeline idle.
Bar breakdownBar(const RankBreakdown& breakdown) {
    Bar bar;
    double at = 0;
    const auto add = [&](double seconds, const QColor& colour, bool hatched, const QString& name) {
        if (seconds <= 0)
            return;
        bar.segments.push_back(
            {at, at + seconds, colour, hatched, QStringLiteral("%1: %2").arg(name, formatSeconds(seconds))});
        at += seconds;
    };
    for (std::size_t value = 1; value < breakdown.kindSeconds.size(); ++value) {
        const auto kind = static_cast<SpanKind>(value);
        add(breakdown.kindSeconds[value], spanColour(kind), false, spanTitle(kind));
    }
    add(breakdown.waitingSeconds, QColor(0x40, 0x40, 0x40), true, QObject::tr("Waiting in collectives"));
    add(breakdown.pipelineIdleSeconds, pipelineIdleColour(), false, QObject::tr("Pipeline idle"));
    bar.note = formatSeconds(at);
    return bar;
}

std::vector<LegendEntry> breakdownLegend(const RankBreakdown& breakdown) {
    std::vector<LegendEntry> legend;
    for (std::size_t value = 1; value < breakdown.kindSeconds.size(); ++value) {
        const auto kind = static_cast<SpanKind>(value);
        if (breakdown.kindSeconds[value] > 0)
            legend.push_back({spanTitle(kind), spanColour(kind)});
    }
    legend.push_back(
        {QObject::tr("Waiting in collectives"), QColor(0x40, 0x40, 0x40), LegendEntry::Look::Hatched});
    legend.push_back({QObject::tr("Pipeline idle"), pipelineIdleColour()});
    return legend;
}

Line stepTimes(const SimulatedScenario& scenario, const QString& name, const QColor& colour) {
    Line line{name, colour, {}, {}};
    for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
        line.x.push_back(static_cast<double>(scenario.plan[i].step));
        line.y.push_back(scenario.steps[i].stepTime.value());
    }
    return line;
}

Line stepTokens(const SimulatedScenario& scenario, const QString& name, const QColor& colour) {
    Line line{name, colour, {}, {}};
    for (const PlanStep& step : scenario.plan) {
        line.x.push_back(static_cast<double>(step.step));
        line.y.push_back(static_cast<double>(step.tokens()));
    }
    return line;
}

QString strategies(const Scenario& scenario) {
    return QString::fromStdString(scenario.packing.strategy + " + " + scenario.sharding.strategy);
}

}  // namespace

ScenarioView::ScenarioView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      headline_(new QLabel(tr("Planning and simulating the scenario \u2026"), this)),
      breakdown_(new BarPlot(tr("Where a step's time goes (mean over ranks and steps, simulated)"), this)),
      steps_(new LinePlot(tr("Step time (simulated)"), this)),
      tokens_(new LinePlot(tr("Tokens of a step"), this)),
      facts_(new QLabel(this)) {
    headline_->setWordWrap(true);
    QFont large = headline_->font();
    large.setPointSizeF(large.pointSizeF() * 1.15);
    headline_->setFont(large);
    facts_->setWordWrap(true);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->setAlignment(Qt::AlignTop);
    auto* basis = new QGroupBox(tr("What these numbers rest on"), this);
    auto* inside = new QVBoxLayout(basis);
    inside->addWidget(facts_);
    auto* curves = new QHBoxLayout;
    curves->setSpacing(12);
    curves->addWidget(steps_, 1);
    curves->addWidget(tokens_, 1);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(10);
    column->addWidget(headline_);
    column->addWidget(breakdown_, 5);
    column->addLayout(curves, 6);
    column->addWidget(basis);
    connect(&session, &Session::whatIfChanged, this, &ScenarioView::refresh);
}

void ScenarioView::refresh() {
    if (!session_->problem().isEmpty()) {
        headline_->setText(tr("This scenario can't be planned: %1").arg(session_->problem()));
        headline_->setStyleSheet(QStringLiteral("color: #b00020"));
        return;
    }
    headline_->setStyleSheet(QString());
    const auto result = session_->whatIf();
    if (!result->baseline) {
        headline_->setText(tr("No unbalanced baseline to hold this against: %1")
                               .arg(QString::fromStdString(result->baselineProblem)));
    } else {
        const double now = result->chosen->figures.secondsPerToken;
        const double base = result->baseline->figures.secondsPerToken;
        const QString per =
            tr("%1 s per million tokens, %2 without balancing (sequential + per-sequence, same lengths).")
                .arg(formatSignificant(now * 1e6), formatSignificant(base * 1e6));
        headline_->setText(now <= base
                               ? tr("<b>%1 saves %2 of the time per token:</b> ")
                                         .arg(strategies(result->scenario), formatPercent(1 - now / base)) +
                                     per
                               : tr("<b>%1 costs %2 more time per token:</b> ")
                                         .arg(strategies(result->scenario), formatPercent(now / base - 1)) +
                                     per);
    }
    showBreakdown();
    showSteps();
    showFacts();
}

void ScenarioView::showBreakdown() {
    const auto result = session_->whatIf();
    BarChart chart;
    chart.horizontal = true;
    chart.scale = ValueScale::Seconds;
    chart.valueAxis = tr("Time of a step");
    chart.categories = {tr("this scenario")};
    chart.bars = {{breakdownBar(result->chosen->figures.breakdown)}};
    if (result->baseline) {
        chart.categories.push_back(tr("unbalanced"));
        chart.bars.push_back({breakdownBar(result->baseline->figures.breakdown)});
    }
    chart.legend = breakdownLegend(result->chosen->figures.breakdown);
    breakdown_->setChart(std::move(chart));
}

void ScenarioView::showSteps() {
    const auto result = session_->whatIf();
    LineChart times;
    times.xAxis = tr("Step");
    times.yAxis = tr("Step time");
    times.yScale = ValueScale::Seconds;
    times.fromZero = true;
    times.lines = {stepTimes(*result->chosen, tr("this scenario"), scenarioColour())};
    LineChart tokens;
    tokens.xAxis = tr("Step");
    tokens.yAxis = tr("Tokens");
    tokens.yScale = ValueScale::Count;
    tokens.fromZero = true;
    tokens.lines = {stepTokens(*result->chosen, tr("this scenario"), scenarioColour())};
    if (result->baseline) {
        times.lines.push_back(stepTimes(*result->baseline, tr("unbalanced"), baselineColour()));
        tokens.lines.push_back(stepTokens(*result->baseline, tr("unbalanced"), baselineColour()));
    }
    steps_->setChart(std::move(times));
    tokens_->setChart(std::move(tokens));
}

void ScenarioView::showFacts() {
    const SimulatedScenario& chosen = *session_->whatIf()->chosen;
    const PlanHeader& header = chosen.header();
    QStringList facts;
    facts << tr("Lengths: %1").arg(QString::fromStdString(header.sourceDescription));
    QStringList thresholds;
    for (const std::int64_t tokens : header.chosen.thresholds)
        thresholds << formatCount(tokens);
    if (header.scenario.packing.strategy == "wlb")
        facts << tr("Chosen: queue thresholds %1 tokens; micro-batches of at most %2 tokens; mean delay %3 "
                    "steps.")
                     .arg(thresholds.isEmpty() ? tr("none") : thresholds.join(tr(" and ")),
                          formatCount(header.chosen.maxTokens),
                          formatSignificant(chosen.figures.meanDelaySteps));
    facts << tr("Of the bubble of %1, the schedule causes %2 and imbalance %3.")
                 .arg(formatPercent(chosen.figures.bubble), formatPercent(chosen.figures.bubbleSchedule),
                      formatPercent(chosen.figures.bubble - chosen.figures.bubbleSchedule));
    const QString source = QString::fromStdString(header.cluster.source);
    facts << tr("Cost model version %1 on %2: %3; point here for the sources of all constants.")
                 .arg(header.costModelVersion)
                 .arg(QString::fromStdString(header.cluster.name),
                      source.section(QStringLiteral(". "), 0, 0));
    QStringList notices;
    for (const std::string& notice : chosen.notices)
        notices << QString::fromStdString(notice);
    QStringList more = source.split(QStringLiteral(". "));
    if (notices.size() > kMostNotices) {
        more += notices;
        const auto left = notices.size() - kMostNotices;
        notices = notices.mid(0, kMostNotices);
        notices << tr("and %1 more").arg(left);
    }
    if (!notices.isEmpty())
        facts << notices.join(QStringLiteral("; "));
    facts_->setToolTip(more.join(QLatin1Char('\n')));
    facts_->setText(facts.join(QLatin1Char('\n')));
}

}  // namespace ballast::studio
