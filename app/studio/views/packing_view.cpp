// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/studio/views/packing_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/studio/models/format.h"
#include "app/studio/plots/bar_plot.h"
#include "app/studio/plots/line_plot.h"
#include "app/studio/plots/span_palette.h"
#include "app/studio/session.h"

namespace ballast::studio {
namespace {

/// Light for short documents, dark for those of a window: lightness grows with the logarithm of the length.
QColor documentColour(std::int64_t length, std::int64_t window) {
    const double longest = std::log2(static_cast<double>(std::max<std::int64_t>(window, 256)));
    const double place = std::clamp(
        (std::log2(static_cast<double>(std::max<std::int64_t>(length, 1))) - 6) / (longest - 6), 0.0, 1.0);
    const QColor light(0xc9, 0xe4, 0xf6);
    const QColor dark(0x08, 0x3a, 0x66);
    const auto mix = [place](int a, int b) { return static_cast<int>(a + (b - a) * place); };
    return QColor(mix(light.red(), dark.red()), mix(light.green(), dark.green()),
                  mix(light.blue(), dark.blue()));
}

QString microBatchName(const MicroBatch& batch, bool several) {
    return several ? QStringLiteral("dp%1 \u00b7 %2").arg(batch.dp).arg(batch.index)
                   : QString::number(batch.index);
}

Bar documentBar(const MicroBatch& batch, std::int64_t window) {
    Bar bar;
    double at = 0;
    for (const Piece& piece : batch.pieces) {
        const auto length = static_cast<double>(piece.length());
        bar.segments.push_back({at, at + length, documentColour(piece.length(), window), false,
                                QObject::tr("document %1, tokens %2 to %3\n%4 tokens, arrived in step %5")
                                    .arg(formatCount(piece.document), formatCount(piece.begin),
                                         formatCount(piece.end), formatCount(piece.length()))
                                    .arg(piece.arrivalStep)});
        at += length;
    }
    bar.note = formatShort(at);
    return bar;
}

QColor launchColour() {
    return spanColour(SpanKind::AttentionBackward);
}

Bar latencyBar(const MicroBatch& batch, const CostModel& cost, bool quadratic) {
    double attention = 0;
    for (const Piece& piece : batch.pieces)
        attention += cost.attentionWorkload(piece.length()).value();
    const double total = batch.pieces.empty() ? 0 : cost.workload(batch.work).value();
    // With the calibrated cost a micro-batch adds the launches of its attention kernels once.
    const double launch = !quadratic && total > 0 ? std::max(0.0, total - batch.work) : 0;
    Bar bar;
    bar.segments = {
        {0, attention, attentionColour(), false, QObject::tr("attention: %1").arg(formatSeconds(attention))},
        {attention, attention + launch, launchColour(), false,
         QObject::tr("attention kernel launches: %1").arg(formatSeconds(launch))},
        {attention + launch, total, linearColour(), false,
         QObject::tr("linear: %1").arg(formatSeconds(total - attention - launch))}};
    bar.note = formatSeconds(total);
    return bar;
}

Line imbalanceLine(const SimulatedScenario& scenario, const QString& name, const QColor& colour) {
    Line line{name, colour, {}, {}};
    for (const PlanStep& step : scenario.plan) {
        line.x.push_back(static_cast<double>(step.step));
        line.y.push_back(imbalanceDegree(packedStep(step), scenario.cost()));
    }
    return line;
}

}  // namespace

PackingView::PackingView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(&session),
      source_(new QComboBox(this)),
      step_(new QComboBox(this)),
      summary_(new QLabel(tr("Packing the scenario \u2026"), this)),
      tokens_(new BarPlot(tr("Tokens: documents in packed order, darker = longer"), this)),
      latency_(new BarPlot(tr("Predicted latency of the same micro-batches"), this)),
      imbalance_(new LinePlot(tr("Imbalance degree step by step"), this)),
      waiting_(new LinePlot(tr("Tokens that wait after each step"), this)) {
    source_->addItems({tr("this scenario"), tr("unbalanced (sequential)")});
    summary_->setWordWrap(true);
    auto* bar = new QHBoxLayout;
    bar->addWidget(new QLabel(tr("Packing of"), this));
    bar->addWidget(source_);
    bar->addSpacing(12);
    bar->addWidget(new QLabel(tr("Step"), this));
    bar->addWidget(step_);
    bar->addSpacing(12);
    bar->addWidget(summary_, 1);
    auto* bars = new QHBoxLayout;
    bars->setSpacing(12);
    bars->addWidget(tokens_, 1);
    bars->addWidget(latency_, 1);
    auto* curves = new QHBoxLayout;
    curves->setSpacing(12);
    curves->addWidget(imbalance_, 1);
    curves->addWidget(waiting_, 1);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(8);
    column->addLayout(bar);
    column->addLayout(bars, 3);
    column->addLayout(curves, 2);
    connect(source_, &QComboBox::currentIndexChanged, this, &PackingView::fillSteps);
    connect(step_, &QComboBox::currentIndexChanged, this, [this](int index) {
        wantedStep_ = index;
        showStep();
    });
    connect(&session, &Session::whatIfChanged, this, [this] {
        if (session_->problem().isEmpty())
            fillSteps();
    });
}

std::shared_ptr<const SimulatedScenario> PackingView::shown() const {
    const auto result = session_->whatIf();
    if (!result)
        return nullptr;
    return source_->currentIndex() == 1 ? result->baseline : result->chosen;
}

void PackingView::fillSteps() {
    const auto scenario = shown();
    if (!scenario) {
        summary_->setText(session_->whatIf() ? QString::fromStdString(session_->whatIf()->baselineProblem)
                                             : QString());
        return;
    }
    {
        const QSignalBlocker quiet(step_);
        step_->clear();
        for (const PlanStep& step : scenario->plan) {
            const std::string_view kind = stepKindName(step.kind);
            step_->addItem(QStringLiteral("%1 (%2)").arg(step.step).arg(
                QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size()))));
        }
        step_->setCurrentIndex(std::clamp(wantedStep_, 0, step_->count() - 1));
    }
    showStep();
    showCurves();
}

void PackingView::showStep() {
    const auto scenario = shown();
    const int index = step_->currentIndex();
    if (!scenario || index < 0 || static_cast<std::size_t>(index) >= scenario->plan.size())
        return;
    const PlanStep& step = scenario->plan[static_cast<std::size_t>(index)];
    const Scenario& settings = scenario->header().scenario;
    BarChart tokens;
    tokens.valueAxis = tr("Tokens");
    tokens.scale = ValueScale::Count;
    tokens.categoryAxis = settings.layout.dp > 1 ? tr("Micro-batch (dp rank \u00b7 place in its pipeline)")
                                                 : tr("Micro-batch (place in the pipeline)");
    tokens.mark = static_cast<double>(settings.lengths.window);
    tokens.markName = tr("context window, %1 tokens").arg(formatCount(settings.lengths.window));
    for (const auto& [name, length] : {std::pair{tr("short document"), std::int64_t{64}},
                                       std::pair{tr("document of a window"), settings.lengths.window}})
        tokens.legend.push_back({name, documentColour(length, settings.lengths.window)});
    BarChart latency = tokens;
    latency.legend = {{tr("attention"), attentionColour()},
                      {tr("attention kernel launches"), launchColour()},
                      {tr("linear"), linearColour()}};
    latency.valueAxis = tr("Predicted forward + backward of a stage");
    latency.scale = ValueScale::Seconds;
    double sum = 0;
    std::size_t filled = 0;
    for (const PlannedMicroBatch& planned : step.microBatches) {
        const QString name = microBatchName(planned.batch, settings.layout.dp > 1);
        tokens.categories.push_back(name);
        latency.categories.push_back(name);
        tokens.bars.push_back({documentBar(planned.batch, settings.lengths.window)});
        latency.bars.push_back(
            {latencyBar(planned.batch, scenario->cost(), settings.cost.model == "quadratic")});
        if (!planned.batch.pieces.empty()) {
            sum += scenario->cost().workload(planned.batch.work).value();
            ++filled;
        }
    }
    latency.mark = filled > 0 ? sum / static_cast<double>(filled) : 0;
    latency.markName = tr("mean");
    tokens_->setChart(std::move(tokens));
    latency_->setChart(std::move(latency));
    const PackedStep packed = packedStep(step);
    summary_->setText(tr("Imbalance degree <b>%1</b>, of attention pairs %2. Waiting: %3 documents, %4 "
                         "tokens in queues, %5 "
                         "tokens carried over. Packed in %6.")
                          .arg(formatRatio(imbalanceDegree(packed, scenario->cost())),
                               formatRatio(attentionImbalance(packed)), formatCount(step.carried.documents),
                               formatCount(step.carried.queuedTokens),
                               formatCount(step.carried.remainedTokens),
                               formatSeconds(step.packMilliseconds / 1e3)));
    imbalance_->setMarker(static_cast<double>(step.step));
    waiting_->setMarker(static_cast<double>(step.step));
}

void PackingView::showCurves() {
    const auto result = session_->whatIf();
    LineChart imbalance;
    imbalance.xAxis = tr("Step");
    imbalance.yAxis = tr("Max / mean workload");
    imbalance.lines = {imbalanceLine(*result->chosen, tr("this scenario"), scenarioColour())};
    if (result->baseline)
        imbalance.lines.push_back(imbalanceLine(*result->baseline, tr("unbalanced"), baselineColour()));
    imbalance_->setChart(std::move(imbalance));
    LineChart waiting;
    waiting.xAxis = tr("Step");
    waiting.yAxis = tr("Tokens waiting");
    waiting.yScale = ValueScale::Count;
    waiting.fromZero = true;
    Line queued{tr("in queues of long documents"), scenarioColour(), {}, {}};
    Line remained{tr("carried over, found no room"), baselineColour(), {}, {}};
    for (const PlanStep& step : shown()->plan) {
        for (Line* line : {&queued, &remained})
            line->x.push_back(static_cast<double>(step.step));
        queued.y.push_back(static_cast<double>(step.carried.queuedTokens));
        remained.y.push_back(static_cast<double>(step.carried.remainedTokens));
    }
    waiting.lines = {queued, remained};
    waiting_->setChart(std::move(waiting));
}

}  // namespace ballast::studio
