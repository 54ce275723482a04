// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/pipeline_executor.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace ballast::backend {

namespace {

SpanLabel labelOf(const MicroBatchInput& input) {
    return {input.index, -1, input.localTokens, 0, input.heaviestDocument};
}

/// The only chunk of a stage until schedules interleave.
constexpr std::int64_t kChunk = 0;

}  // namespace

PipelineExecutor::PipelineExecutor(const RankContext& context, Transformer& transformer,
                                   std::optional<PlantedDelay> delay)
    : context_(context), transformer_(transformer), delay_(delay) {}

void PipelineExecutor::run(std::string_view scheduleKind, std::span<const MicroBatchInput> inputs) {
    std::vector<int> indices;
    std::map<int, const MicroBatchInput*> byIndex;
    for (const MicroBatchInput& input : inputs) {
        indices.push_back(input.index);
        byIndex[input.index] = &input;
    }
    const auto stages = pipelineActions(scheduleKind, context_.groups.layout().pp, indices);
    for (const Action& action : stages[static_cast<std::size_t>(context_.groups.coordinate().pp)])
        perform(action, *byIndex.at(action.microBatch));
    context_.groups.world().flush();
}

void PipelineExecutor::perform(const Action& action, const MicroBatchInput& input) {
    switch (action.kind) {
        case ActionKind::ReceiveActivation:
            received_[input.index] = receive(*context_.groups.previousStage(), Direction::Forward, input);
            break;
        case ActionKind::Forward:
            forward(input);
            break;
        case ActionKind::SendActivation:
            send(*context_.groups.nextStage(), Direction::Forward, input, std::move(outgoing_[input.index]));
            break;
        case ActionKind::ReceiveGradient:
            received_[input.index] = receive(*context_.groups.nextStage(), Direction::Backward, input);
            break;
        case ActionKind::Backward:
            backward(input);
            break;
        case ActionKind::SendGradient:
            send(*context_.groups.previousStage(), Direction::Backward, input,
                 std::move(outgoing_[input.index]));
            break;
    }
}

void PipelineExecutor::forward(const MicroBatchInput& input) {
    PassScope pass(context_.spans, SpanKind::Forward, labelOf(input));
    if (delay_ && delay_->rank == context_.groups.rank() && delay_->step == input.step) {
        burn(input);
        delay_.reset();
    }
    outgoing_[input.index] = transformer_.forward(input, std::move(received_[input.index]));
}

void PipelineExecutor::backward(const MicroBatchInput& input) {
    PassScope pass(context_.spans, SpanKind::Backward, labelOf(input));
    outgoing_[input.index] = transformer_.backward(input, std::move(received_[input.index]));
}

Buffer PipelineExecutor::receive(int from, Direction direction, const MicroBatchInput& input) {
    const std::int64_t count = input.localTokens * context_.cost.model().hiddenSize;
    Buffer payload = context_.arena.take(MemoryClass::Activations, count);
    Span span = startedSpan(context_.clock, SpanKind::PpReceive, labelOf(input));
    span.bytes = count * context_.cost.activationBytes();
    const Nanoseconds sentAt =
        context_.groups.world().receive(from, {input.step, input.index, direction, kChunk}, payload);
    if (context_.clock.isVirtual()) {
        const Seconds transfer = context_.cost.pointToPoint(Bytes(span.bytes), from, context_.groups.rank());
        context_.clock.advanceTo(sentAt + toNanoseconds(transfer));
        span.modelled = 1;
    }
    span.end = context_.clock.now();
    span.waitingUntil = std::clamp(sentAt, span.begin, span.end);
    if (span.waiting() > 0) {
        span.blamedRank = from;
        span.document = input.heaviestDocument;
    }
    if (span.duration() > 0)  // else the message lay there already
        context_.spans.add(span);
    return payload;
}

void PipelineExecutor::send(int to, Direction direction, const MicroBatchInput& input, Buffer payload) {
    auto owner = std::make_shared<Buffer>(std::move(payload));
    const std::span<const float> numbers = owner->numbers();
    Span span = startedSpan(context_.clock, SpanKind::PpSend, labelOf(input));
    span.bytes = static_cast<std::int64_t>(numbers.size()) * context_.cost.activationBytes();
    context_.groups.world().send(
        {to, {input.step, input.index, direction, kChunk}, span.begin, numbers, std::move(owner)});
    span.end = context_.clock.now();
    if (span.duration() > 0)  // on the virtual clock a send costs nothing
        context_.spans.add(span);
}

void PipelineExecutor::burn(const MicroBatchInput& input) {
    ComputeScope scope(context_.spans, SpanKind::Elementwise, labelOf(input));
    const Nanoseconds until = RankClock::threadCpuTime() + delay_->milliseconds * 1'000'000;
    while (RankClock::threadCpuTime() < until) {
    }
}

}  // namespace ballast::backend
