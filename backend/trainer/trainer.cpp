// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/trainer/gradient_sync.h"
#include "backend/trainer/optimizer.h"
#include "backend/trainer/tensor_gathering.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/cost/memory_cost.h"
#include "core/schedule/pipeline_schedule.h"

namespace ballast::backend {

namespace {

Parameters::Setup parameterSetup(const TrainerSetup& setup, const ProcessGroups& groups) {
    return {setup.cost.model(),           groups.layout(),
            groups.coordinate(),          setup.cost.stageLayers(),
            setup.scenario.training.seed, setup.scenario.training.initStd};
}

/// What the memory model asks of a rank for these micro-batches, and some more for what it does not count:
/// gradients of activations and gaps between buffers.
std::int64_t bytesToReserve(const TrainerSetup& setup, int pp, const std::vector<MicroBatchInput>& inputs) {
    std::vector<int> places;
    std::vector<std::int64_t> tokens;
    std::int64_t largest = 0;
    std::int64_t longest = 0;
    for (const MicroBatchInput& input : inputs) {
        places.push_back(static_cast<int>(places.size()));
        tokens.push_back(input.localTokens);
        largest = std::max(largest, input.localTokens);
        longest = std::max(longest, input.tokens);
    }
    const std::vector<ActionList> stages =
        pipelineActions(setup.scenario.schedule.kind, setup.cost.layout().pp, places);
    const std::int64_t inFlight = peakInFlightTokens(stages[static_cast<std::size_t>(pp)], tokens);
    constexpr double kUncounted = 1.4;
    return static_cast<std::int64_t>(
        kUncounted *
        static_cast<double>(stageMemory(setup.cost, pp, inFlight, largest, longest).total().value()));
}

}  // namespace

struct Trainer::State {
    State(const TrainerSetup& trainerSetup, Transport& transport)
        : setup(trainerSetup),
          groups(transport, trainerSetup.cost.layout()),
          clock(trainerSetup.clock),
          spans(clock),
          shape(rankShape(trainerSetup.cost.model(), groups.layout(), groups.coordinate().tp)),
          parameters(parameterSetup(trainerSetup, groups), arena),
          transformer(context, parameters, shape),
          pipeline(context, transformer, trainerSetup.delay),
          optimizer(context, parameters, setup.scenario.training) {
        arena.poison(trainerSetup.poisonMemory);
    }

    TrainerSetup setup;
    ProcessGroups groups;
    RankClock clock;
    SpanRecorder spans;
    MemoryArena arena;
    kernels::Scratch scratch;
    RankContext context{setup.cost, groups, clock, spans, arena, scratch};
    RankShape shape;
    Parameters parameters;
    Transformer transformer;
    PipelineExecutor pipeline;
    Optimizer optimizer;
    Nanoseconds stepBegin = 0;

    /// Latest clock of all ranks; on the virtual clock every rank then stands there, because the next step
    /// is entered together.
    Nanoseconds meetAtStepEnd() {
        Nanoseconds latest = clock.now();
        groups.world().allReduce(std::span(&latest, 1), Reduction::Maximum);
        clock.advanceTo(latest);
        return latest;
    }
};

Trainer::Trainer(const TrainerSetup& setup, Transport& transport) {
    BALLAST_CHECK(setup.clock != Clock::Simulated);
    kernels::useOneThread();
    state_ = std::make_unique<State>(setup, transport);
    state_->groups.world().barrier();
    // One machine has one monotonic clock: its latest reading is everybody's time 0.
    Nanoseconds now = RankClock::monotonic();
    state_->groups.world().allReduce(std::span(&now, 1), Reduction::Maximum);
    state_->clock.start(now);
}

Trainer::~Trainer() = default;

PreparedStep Trainer::prepare(const PlanStep& step) {
    const Coordinate at = state_->groups.coordinate();
    const InputNeeds needs{at.cp, state_->groups.firstStage(), state_->groups.lastStage(),
                           isNeedBased(state_->setup.cost)};
    Span span = startedSpan(state_->clock, SpanKind::Packing, {});
    span.lane = Lane::Host;
    PreparedStep prepared;
    prepared.step = step.step;
    prepared.tokens = step.tokens();
    prepared.targets = step.targets();
    for (const PlannedMicroBatch& planned : step.microBatches) {
        if (static_cast<int>(planned.sharding.ranks.size()) != state_->groups.layout().cp)
            throw Error(
                fmt::format("plan, step {}: micro-batch {} of dp {} is sharded over {} ranks, the "
                            "layout has cp {}",
                            step.step, planned.batch.index, planned.batch.dp, planned.sharding.ranks.size(),
                            state_->groups.layout().cp));
        if (planned.batch.dp == at.dp && planned.batch.tokens > 0)
            prepared.inputs.push_back(makeMicroBatchInput(step.step, planned, needs, state_->setup.tokens));
    }
    state_->arena.reserve(bytesToReserve(state_->setup, at.pp, prepared.inputs));
    span.tokens = prepared.tokens;
    span.end = state_->clock.now();
    if (span.duration() > 0)  // host work costs nothing on the virtual clock
        state_->spans.add(span);
    return prepared;
}

TrainedStep Trainer::run(const PreparedStep& step, const std::function<void()>& beforeUpdate) {
    State& state = *state_;
    state.arena.resetPeaks();
    state.parameters.zeroGradients();
    state.transformer.startStep(step.targets);
    state.pipeline.run(state.setup.scenario.schedule.kind, step.inputs);
    const StepSums sums = synchroniseGradients(state.context, state.parameters, state.transformer.lossSum());
    if (beforeUpdate)
        beforeUpdate();

    TrainedStep trained;
    StepReport& report = trained.report;
    report.step = step.step;
    report.tokens = step.tokens;
    report.targets = step.targets;
    report.lossSum = sums.lossSum;
    report.learningRate = learningRate(state.setup.scenario.training, step.step);
    report.gradientNorm = std::numeric_limits<double>::quiet_NaN();
    if (step.targets > 0) {
        report.gradientNorm = std::sqrt(sums.squaredGradientNorm);
        state.optimizer.update(report.learningRate, report.gradientNorm);
    }
    report.begin = state.stepBegin;
    report.end = state.meetAtStepEnd();
    state.stepBegin = report.end;
    for (std::size_t kind = 0; kind < kMemoryClasses; ++kind)
        report.peakBytes[kind] = state.arena.peak(static_cast<MemoryClass>(kind));
    trained.spans = state.spans.take();
    return trained;
}

void Trainer::gather(Parameters::Kind kind,
                     const std::function<void(const TensorSpec&, std::span<const float>)>& take) const {
    gatherTensors(state_->context, state_->parameters, kind, take);
}

void Trainer::exportTo(Parameters::Kind kind, const std::filesystem::path& file) const {
    exportTensors(state_->context, state_->parameters, kind, file);
}

ProcessGroups& Trainer::groups() {
    return state_->groups;
}

}  // namespace ballast::backend
