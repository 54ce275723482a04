// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_answer.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/readable.h"
#include "core/dispatch/runner.h"

namespace ballast::cli {

namespace {

using Json = nlohmann::ordered_json;

Json orNull(double number) {
    return std::isfinite(number) ? Json(number) : Json();
}

Json stepJson(const StepRecord& step, RunKind kind) {
    const bool measured = kind != RunKind::Simulated;
    return {{"step", step.step},
            {"complete", step.complete},
            {"loss", step.loss ? orNull(*step.loss) : Json()},
            {"tokens", step.tokens},
            {"targets", step.targets},
            {"gradient_norm", measured ? orNull(step.gradientNorm) : Json()},
            {"learning_rate", measured ? orNull(step.learningRate) : Json()},
            {"step_time_s", toSeconds(step.end - step.begin).value()},
            {"imbalance_degree", orNull(step.imbalanceDegree)},
            {"missing_ranks", step.missingRanks}};
}

}  // namespace

std::string runAnswerJson(const Workspace& workspace, const RunRecord& run) {
    Json steps = Json::array();
    for (const StepRecord& step : workspace.steps(run.id))
        steps.push_back(stepJson(step, run.kind));
    Json answer = {{"run", run.id},
                   {"state", runStateName(currentState(workspace, run))},
                   {"kind", runKindName(run.kind)},
                   {"name", run.name},
                   {"steps", std::move(steps)},
                   {"planned_steps", run.plannedSteps},
                   {"clock", clockName(run.clock)},
                   {"world_size", run.layout.worldSize()},
                   {"tokens_are", run.tokensAre.empty() ? Json() : Json(run.tokensAre)},
                   {"prediction", run.prediction ? Json(*run.prediction) : Json()},
                   {"host", run.host},
                   {"failure", run.failure.empty() ? Json() : Json(run.failure)}};
    if (run.kind == RunKind::Measured)
        answer["directory"] = workspace.runDirectory(run.id).string();
    return answer.dump();
}

std::string stepHeading() {
    return fmt::format("{:>6}  {:>12}  {:>12}  {:>12}  {:>14}  {:>13}", "step", "loss (nats)", "tokens",
                       "step time", "gradient norm", "learning rate");
}

std::string stepLine(const StepRecord& step) {
    const std::string loss = step.loss ? fmt::format("{:.9f}", *step.loss) : "-";
    return fmt::format("{:>6}  {:>12}  {:>12}  {:>12}  {:>14.6g}  {:>13.4g}{}", step.step, loss,
                       grouped(step.tokens), readableSeconds(toSeconds(step.end - step.begin).value()),
                       step.gradientNorm, step.learningRate, step.complete ? "" : "  (partial)");
}

std::string tokensSentence(const RunRecord& run) {
    if (run.tokensAre == "synthetic")
        return "synthetic tokens, drawn from the seed";
    return run.tokensAre == "file" ? "tokens of a file" : "no tokens (a simulation)";
}

}  // namespace ballast::cli
