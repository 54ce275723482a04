// SPDX-License-Identifier: Apache-2.0
#include "backend/model/transformer.h"

#include "backend/trainer/tensor_parallel_linear.h"
#include "core/base/check.h"
#include "kernels/embedding.h"
#include "kernels/rotary.h"

namespace ballast::backend {

namespace {

SpanLabel labelOf(const MicroBatchInput& input) {
    return {input.index, -1, input.localTokens, 0, input.heaviestDocument};
}

}  // namespace

Transformer::Transformer(const RankContext& context, const Parameters& parameters, const RankShape& shape)
    : context_(context),
      parameters_(parameters),
      shape_(shape),
      head_({context, parameters, shape, static_cast<float>(context.cost.model().rmsNormEpsilon)}) {
    const auto epsilon = static_cast<float>(context.cost.model().rmsNormEpsilon);
    int index = static_cast<int>(parameters.firstLayer());
    for (const LayerTensors& tensors : parameters.layers())
        layers_.emplace_back(TransformerLayer::Setup{context, parameters, shape, epsilon, index++, tensors});
}

void Transformer::startStep(std::int64_t targets) {
    BALLAST_CHECK(inFlight_.empty());
    lossSum_ = 0;
    lossScale_ = targets > 0 ? 1.0 / static_cast<double>(targets) : 0.0;
}

RotaryTables Transformer::rotaryTables(const MicroBatchInput& input) const {
    const std::int64_t count = input.localTokens * shape_.headDim / 2;
    RotaryTables tables{context_.arena.take(MemoryClass::Activations, count),
                        context_.arena.take(MemoryClass::Activations, count)};
    if (input.localTokens > 0) {
        ComputeScope scope(context_.spans, SpanKind::Elementwise, labelOf(input));
        kernels::rotaryAngles(input.positions, shape_.headDim, context_.cost.model().ropeTheta, tables.cosine,
                              tables.sine);
    }
    return tables;
}

Buffer Transformer::embed(const MicroBatchInput& input) const {
    Buffer hidden = context_.arena.take(MemoryClass::Activations, input.localTokens * shape_.hidden);
    if (input.localTokens > 0) {
        ComputeScope scope(context_.spans, SpanKind::Embedding, labelOf(input));
        kernels::embeddingForward(shape_.vocabulary, shape_.hidden, input.ids,
                                  parameters_.weights(parameters_.embedding()), hidden);
    }
    for (const CollectiveCall& call :
         embeddingCollectives(context_.cost, Direction::Forward, input.localTokens))
        tensorSum(context_, call, labelOf(input), hidden);
    return hidden;
}

void Transformer::embedBackward(const MicroBatchInput& input, const Buffer& gradient) const {
    if (input.localTokens == 0)
        return;
    ComputeScope scope(context_.spans, SpanKind::Embedding, labelOf(input));
    kernels::embeddingBackward(shape_.vocabulary, shape_.hidden, input.ids, gradient,
                               parameters_.gradients(parameters_.embedding()));
}

Buffer Transformer::forward(const MicroBatchInput& input, Buffer received) {
    InFlight& kept = inFlight_[input.index];
    kept.rotary = rotaryTables(input);
    kept.layers.resize(layers_.size());
    Buffer hidden = context_.groups.firstStage() ? embed(input) : std::move(received);
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
        hidden = layers_[layer].forward(input, kept.rotary, std::move(hidden), kept.layers[layer]);
        // Large messages need the sender's help to get on; between layers it is cheap.
        context_.groups.world().progress();
    }
    if (!context_.groups.lastStage())
        return hidden;
    lossSum_ += head_.forward(input, std::move(hidden), kept.head);
    return {};
}

Buffer Transformer::backward(const MicroBatchInput& input, Buffer gradient) {
    auto found = inFlight_.find(input.index);
    BALLAST_CHECK(found != inFlight_.end());
    InFlight& kept = found->second;
    if (context_.groups.lastStage()) {
        gradient = head_.backward(input, kept.head, lossScale_);
        kept.head = HeadActivations();
    }
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
        layers_[layer].backward(input, kept.rotary, kept.layers[layer], gradient);
        kept.layers[layer] = LayerActivations();
        context_.groups.world().progress();
    }
    inFlight_.erase(found);
    if (!context_.groups.firstStage())
        return gradient;
    embedBackward(input, gradient);
    return {};
}

}  // namespace ballast::backend
