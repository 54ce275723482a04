// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/progress_bar.h"
#include "app/cli/readable.h"
#include "app/cli/scenario_arguments.h"
#include "core/base/error.h"
#include "core/packing/packing_summary.h"
#include "core/simulator/simulation.h"
#include "core/store/simulated_run.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    ScenarioArguments scenario;
    std::string workspace;
    std::string trace;
};

/// Everything that the answer needs, gathered step by step; only the slowest step is kept whole.
struct Findings {
    explicit Findings(const CostModel& model) : cost(model), packing(model) {}

    void add(const PlanStep& step, const SimulatedStep& simulated) {
        packing.add(packedStep(step));
        summary.add(simulated);
        if (summary.steps() == 1 || simulated.stepTime > slowestTime) {
            slowest = step;
            slowestTime = simulated.stepTime;
            slowestBegin = begin;
        }
        begin += toNanoseconds(simulated.stepTime);
    }

    const CostModel& cost;
    PackingSummary packing;
    SimulationSummary summary;
    std::optional<PlanStep> slowest;
    Seconds slowestTime;
    Nanoseconds slowestBegin = 0;
    Nanoseconds begin = 0;
    std::optional<RunId> stored;
    std::vector<std::string> notices;
};

void simulateAll(Findings& findings, StepSource& source) {
    ProgressBar bar("simulating, steps", source.batchesToTake());
    SimulationOptions options;
    options.recordSpans = false;
    while (const auto step = source.next()) {
        findings.add(*step, simulateStep(stepWork(*step, findings.cost), findings.cost, options));
        bar.show(findings.summary.steps());
    }
}

void simulateInto(Findings& findings, StepSource& source, const std::string& file) {
    std::vector<PlanStep> steps;
    while (auto step = source.next())
        steps.push_back(std::move(*step));
    Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
    const Scenario& scenario = source.header().scenario;
    ProgressBar bar("simulating, steps", static_cast<std::int64_t>(steps.size()));
    std::size_t done = 0;
    const StoredSimulation stored =
        storeSimulation(workspace, source.header(), steps, source.discards(),
                        scenario.packing.strategy + " + " + scenario.sharding.strategy, Clock::Virtual,
                        [&](const SimulatedStep& simulated) {
                            findings.add(steps[done++], simulated);
                            bar.show(findings.summary.steps());
                        });
    findings.stored = stored.run;
}

/// The slowest step once more, now with its spans.
std::vector<CriticalSpan> criticalPathOf(const Findings& findings) {
    if (!findings.slowest)
        return {};
    SimulatedStep step =
        simulateStep(stepWork(*findings.slowest, findings.cost), findings.cost, {}, findings.slowestBegin);
    return criticalPath(step.timeline, findings.cost.layout());
}

Json criticalPathJson(const std::vector<CriticalSpan>& path) {
    Json spans = Json::array();
    for (const CriticalSpan& span : path)
        spans.push_back({{"rank", span.rank},
                         {"lane", laneName(span.lane)},
                         {"kind", span.idle ? std::string_view("idle") : spanKindName(span.kind)},
                         {"micro_batch", span.microBatch},
                         {"begin", span.begin},
                         {"end", span.end},
                         {"document", span.document >= 0 ? Json(span.document) : Json()}});
    return spans;
}

Json breakdownJson(const RankBreakdown& breakdown) {
    Json parts = Json::object();
    for (int kind = 1; kind <= kSpanKindCount; ++kind) {
        const double seconds = breakdown.kindSeconds[static_cast<std::size_t>(kind)];
        if (seconds != 0)
            parts[std::string(spanKindName(static_cast<SpanKind>(kind)))] = seconds;
    }
    parts["waiting"] = breakdown.waitingSeconds;
    parts["pipeline_idle"] = breakdown.pipelineIdleSeconds;
    return parts;
}

double mfuOf(const Findings& findings) {
    const CostModel& cost = findings.cost;
    return findings.summary.mfu(cost.cluster().peakFlops(cost.precision()), cost.layout().worldSize());
}

std::string answerJson(const Findings& findings, const PlanHeader& header) {
    const SimulationSummary& summary = findings.summary;
    const PeakMemory& memory = summary.memory();
    const double steps = static_cast<double>(summary.steps());
    // Without recomputation and padding the hardware does the model's own FLOPs.
    const double mfu = mfuOf(findings);
    Json answer = {{"step_time_s",
                    {{"median", summary.medianStepSeconds()},
                     {"p5", summary.stepSecondsPercentile(5)},
                     {"p95", summary.stepSecondsPercentile(95)},
                     {"mean", steps > 0 ? summary.totalSeconds() / steps : 0}}},
                   {"steps", summary.steps()},
                   {"tokens", summary.tokens()},
                   {"seconds_per_token", summary.secondsPerToken()},
                   {"tokens_per_s", summary.tokensPerSecond()},
                   {"mfu", mfu},
                   {"hfu", mfu},
                   {"bubble", summary.bubble()},
                   {"bubble_schedule", summary.bubbleSchedule()},
                   {"bubble_imbalance", summary.bubbleImbalance()},
                   {"imbalance_degree", findings.packing.imbalanceDegree()},
                   {"memory_gib", {{"max", memory.gib}, {"rank", memory.rank}, {"limit", memory.limitGib}}},
                   {"breakdown", breakdownJson(summary.meanBreakdown())},
                   {"critical_path_step", findings.slowest ? Json(findings.slowest->step) : Json()},
                   {"critical_path", criticalPathJson(criticalPathOf(findings))},
                   {"cost_model_version", header.costModelVersion},
                   {"notices", findings.notices}};
    if (findings.stored)
        answer["run"] = *findings.stored;
    return answer.dump();
}

void printBreakdown(const RankBreakdown& breakdown) {
    const double total = breakdown.totalSeconds();
    TextTable table({"mean of a rank and step", "time", "share"});
    const auto add = [&](std::string_view name, double seconds) {
        if (seconds != 0)
            table.add({std::string(name), readableSeconds(seconds),
                       readableShare(total > 0 ? seconds / total : 0)});
    };
    for (int kind = 1; kind <= kSpanKindCount; ++kind)
        add(spanKindName(static_cast<SpanKind>(kind)), breakdown.kindSeconds[static_cast<std::size_t>(kind)]);
    add("waiting (for other ranks)", breakdown.waitingSeconds);
    add("pipeline idle", breakdown.pipelineIdleSeconds);
    fmt::print("{}", table.text());
}

void printFindings(const Findings& findings, const PlanHeader& header) {
    const SimulationSummary& summary = findings.summary;
    const Layout& layout = findings.cost.layout();
    fmt::print("simulated: {} + {} on {}, layout tp {} cp {} dp {} pp {}, {} steps, {} tokens\n",
               header.scenario.packing.strategy, header.scenario.sharding.strategy, header.cluster.name,
               layout.tp, layout.cp, layout.dp, layout.pp, grouped(summary.steps()),
               grouped(summary.tokens()));
    fmt::print("step time: median {}, 5-95 %: {} to {}\n", readableSeconds(summary.medianStepSeconds()),
               readableSeconds(summary.stepSecondsPercentile(5)),
               readableSeconds(summary.stepSecondsPercentile(95)));
    fmt::print("{:.0f} tokens/s, {} a token; model FLOP utilisation {}\n", summary.tokensPerSecond(),
               readableSeconds(summary.secondsPerToken()), readableShare(mfuOf(findings)));
    fmt::print("bubble {} (of the schedule {}, of imbalance {}); imbalance degree {:.3f}\n",
               readableShare(summary.bubble()), readableShare(summary.bubbleSchedule()),
               readableShare(summary.bubbleImbalance()), findings.packing.imbalanceDegree());
    fmt::print("memory: at most {:.2f} of {:.2f} GiB, on rank {}\n\n", summary.memory().gib,
               summary.memory().limitGib, summary.memory().rank);
    printBreakdown(summary.meanBreakdown());
    if (findings.stored)
        fmt::print("\nstored as run {}\n", *findings.stored);
    printNotices(findings.notices);
}

int simulate(const Arguments& arguments) {
    if (!arguments.trace.empty())
        throw Error("simulate: --trace is not built yet; use --workspace");
    StepSource source(arguments.scenario, "simulate");
    const PlanHeader& header = source.header();
    const CostModel cost(header.scenario, header.model, header.cluster);
    Findings findings(cost);
    if (arguments.workspace.empty())
        simulateAll(findings, source);
    else
        simulateInto(findings, source, arguments.workspace);
    findings.notices = source.notices();
    if (arguments.scenario.json)
        printAnswer(answerJson(findings, header));
    else
        printFindings(findings, header);
    return kDone;
}

}  // namespace

void addSimulateCommand(Program& program) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = program.app.add_subcommand("simulate", "a scenario or plan -> predicted seconds");
    arguments->scenario.addTo(*command, true);
    command->add_option("--workspace", arguments->workspace,
                        "also store it there, as a run of kind simulated");
    command->add_option("--trace", arguments->trace, "not built yet");
    command->callback(
        [&program, arguments] { program.action = [arguments] { return simulate(*arguments); }; });
}

}  // namespace ballast::cli
