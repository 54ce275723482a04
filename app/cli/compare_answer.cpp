// SPDX-License-Identifier: Apache-2.0
#include "app/cli/compare_answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/readable.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

Json secondsByKind(const std::map<SpanKind, double>& seconds) {
    Json kinds = Json::object();
    for (const auto& [kind, value] : seconds)
        kinds[std::string(spanKindName(kind))] = value;
    return kinds;
}

Json figuresJson(const Workspace& workspace, const RunFigures& figures) {
    const RunRecord& run = figures.run;
    Json answer = {{"id", run.id},
                   {"kind", runKindName(run.kind)},
                   {"clock", clockName(run.clock)},
                   {"name", run.name},
                   {"tokens_are", run.tokensAre.empty() ? Json() : Json(run.tokensAre)},
                   {"prediction", run.prediction ? Json(*run.prediction) : Json()},
                   {"steps", figures.steps},
                   {"seconds_per_token", figures.secondsPerToken},
                   {"tokens_per_s", figures.tokensPerSecond},
                   {"imbalance_degree", figures.imbalanceDegree},
                   {"rank_imbalance", figures.rankImbalance},
                   {"waiting_s", secondsByKind(figures.waitingSeconds)},
                   {"pipeline_idle_s", figures.pipelineIdleSeconds},
                   {"compute_s", figures.computeSeconds},
                   {"kinds_s", secondsByKind(figures.kindSeconds)},
                   {"loss_last", figures.lossLast ? Json(*figures.lossLast) : Json()}};
    if (const auto error = predictionError(workspace, figures))
        answer["predicted"] = {{"compute_s", error->predictedComputeSeconds},
                               {"measured_compute_s", error->measuredComputeSeconds},
                               {"waiting_s", error->predictedWaitingSeconds},
                               {"measured_waiting_s", error->measuredWaitingSeconds}};
    return answer;
}

double sumOf(const std::map<SpanKind, double>& seconds) {
    double sum = 0;
    for (const auto& [kind, value] : seconds)
        sum += value;
    return sum;
}

std::string changeOf(double before, double after) {
    return before > 0 ? readableChange(after / before - 1) : "-";
}

std::string lossOf(const RunFigures& figures) {
    return figures.lossLast ? fmt::format("{:.6f}", *figures.lossLast) : "-";
}

std::string runTitle(const RunFigures& figures) {
    return fmt::format("run {}: {}", figures.run.id, figures.run.name);
}

void addSeconds(TextTable& table, const std::string& name, double before, double after) {
    table.add({name, readableSeconds(before), readableSeconds(after), changeOf(before, after)});
}

std::string figuresTable(const Comparison& comparison) {
    const RunFigures& a = comparison.baseline;
    const RunFigures& b = comparison.other;
    TextTable table({"", runTitle(a), runTitle(b), "change"});
    table.add({"kind, clock", fmt::format("{}, {}", runKindName(a.run.kind), clockName(a.run.clock)),
               fmt::format("{}, {}", runKindName(b.run.kind), clockName(b.run.clock)), ""});
    table.add({"finished steps", grouped(a.steps), grouped(b.steps), ""});
    addSeconds(table, "seconds per token", a.secondsPerToken, b.secondsPerToken);
    table.add({"tokens per second", fmt::format("{:.1f}", a.tokensPerSecond),
               fmt::format("{:.1f}", b.tokensPerSecond), changeOf(a.tokensPerSecond, b.tokensPerSecond)});
    table.add({"imbalance of micro-batches (heaviest / mean)", fmt::format("{:.3f}", a.imbalanceDegree),
               fmt::format("{:.3f}", b.imbalanceDegree), changeOf(a.imbalanceDegree, b.imbalanceDegree)});
    table.add({"imbalance of ranks (slowest / mean compute)", fmt::format("{:.3f}", a.rankImbalance),
               fmt::format("{:.3f}", b.rankImbalance), changeOf(a.rankImbalance, b.rankImbalance)});
    addSeconds(table, "compute, all ranks", a.computeSeconds, b.computeSeconds);
    addSeconds(table, "waiting for other ranks, all ranks", sumOf(a.waitingSeconds), sumOf(b.waitingSeconds));
    std::set<SpanKind> kinds;
    for (const RunFigures* figures : {&a, &b}) {
        for (const auto& [kind, seconds] : figures->waitingSeconds)
            kinds.insert(kind);
    }
    const auto waiting = [](const RunFigures& figures, SpanKind kind) {
        const auto found = figures.waitingSeconds.find(kind);
        return found == figures.waitingSeconds.end() ? 0 : found->second;
    };
    for (const SpanKind kind : kinds)
        addSeconds(table, fmt::format("  in {}", spanKindName(kind)), waiting(a, kind), waiting(b, kind));
    addSeconds(table, "pipeline idle, all ranks", a.pipelineIdleSeconds, b.pipelineIdleSeconds);
    if (a.lossLast || b.lossLast)
        table.add({"loss of the last steps (nats a token)", lossOf(a), lossOf(b), ""});
    return table.text();
}

std::string predictionTable(const Workspace& workspace, const Comparison& comparison) {
    TextTable table({"prediction against measurement, all ranks", "predicted", "measured", "error"});
    bool any = false;
    for (const RunFigures* figures : {&comparison.baseline, &comparison.other}) {
        const auto error = predictionError(workspace, *figures);
        if (!error)
            continue;
        any = true;
        const auto add = [&](const char* what, double predicted, double measured) {
            table.add({fmt::format("run {} {}", figures->run.id, what), readableSeconds(predicted),
                       readableSeconds(measured), changeOf(measured, predicted)});
        };
        add("compute", error->predictedComputeSeconds, error->measuredComputeSeconds);
        add("waiting", error->predictedWaitingSeconds, error->measuredWaitingSeconds);
    }
    return any ? "\n" + table.text() : "";
}

}  // namespace

std::string comparisonJson(const Workspace& workspace, const Comparison& comparison) {
    const Json answer = {
        {"comparable", comparison.comparable},
        {"why_not", comparison.whyNot},
        {"notices", comparison.notices},
        {"runs", {figuresJson(workspace, comparison.baseline), figuresJson(workspace, comparison.other)}},
        {"delta", {{"seconds_per_token", comparison.secondsPerTokenDelta}, {"noise", comparison.noise}}}};
    return answer.dump();
}

std::string comparisonText(const Workspace& workspace, const Comparison& comparison) {
    std::string text = figuresTable(comparison) + predictionTable(workspace, comparison) + "\n";
    for (const std::string& reason : comparison.whyNot)
        text += fmt::format("not comparable: {}\n", reason);
    for (const std::string& notice : comparison.notices)
        text += fmt::format("note: {}\n", notice);
    if (comparison.comparable) {
        const double delta = comparison.secondsPerTokenDelta;
        text +=
            fmt::format("run {} needs {:.1f} % {} seconds per token than run {}; noise between repeats: {}\n",
                        comparison.other.run.id, 100 * std::abs(delta), delta < 0 ? "fewer" : "more",
                        comparison.baseline.run.id,
                        comparison.noise > 0 ? readableShare(comparison.noise) : "not known, no repeats");
    }
    return text;
}

}  // namespace ballast::cli
