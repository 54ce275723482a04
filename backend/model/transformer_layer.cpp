// SPDX-License-Identifier: Apache-2.0
#include "backend/model/transformer_layer.h"

#include "backend/trainer/context_parallel_attention.h"
#include "backend/trainer/tensor_parallel_linear.h"
#include "core/base/check.h"
#include "kernels/add.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"
#include "kernels/swiglu.h"

namespace ballast::backend {

namespace {

/// What both passes of a layer share: shapes, weights, memory and span labels.
class LayerPass {
  public:
    LayerPass(const TransformerLayer::Setup& setup, const MicroBatchInput& input, const RotaryTables& rotary)
        : setup_(setup),
          input_(input),
          rotary_(rotary),
          attention_(setup.context, setup.shape, input, setup.index) {}

  protected:
    std::int64_t tokens() const { return input_.localTokens; }
    bool isEmpty() const { return tokens() == 0; }
    const RankShape& shape() const { return setup_.shape; }
    const LayerTensors& tensors() const { return setup_.tensors; }
    std::span<float> weight(int tensor) const { return setup_.parameters.weights(tensor); }
    std::span<float> gradientOf(int tensor) const { return setup_.parameters.gradients(tensor); }
    Buffer take(std::int64_t width) const {
        return setup_.context.arena.take(MemoryClass::Activations, tokens() * width);
    }
    SpanLabel label(double flops = 0) const {
        return {input_.index, setup_.index, tokens(), flops, input_.heaviestDocument};
    }
    ComputeScope scope(SpanKind kind, double flops = 0) const {
        return ComputeScope(setup_.context.spans, kind, label(flops));
    }
    LinearShape queryProjection() const { return {tokens(), shape().hidden, shape().queryWidth()}; }
    LinearShape keyProjection() const { return {tokens(), shape().hidden, shape().keyWidth()}; }
    LinearShape outputProjection() const { return {tokens(), shape().queryWidth(), shape().hidden}; }
    LinearShape gateProjection() const { return {tokens(), shape().hidden, shape().intermediate}; }
    LinearShape downProjection() const { return {tokens(), shape().intermediate, shape().hidden}; }
    kernels::RmsNormShape norm() const { return {tokens(), shape().hidden, setup_.normEpsilon}; }

    /// Keys or values of an array that holds both.
    std::span<float> keys(std::span<float> both) const { return both.subspan(0, both.size() / 2); }
    std::span<float> values(std::span<float> both) const { return both.subspan(both.size() / 2); }

    void rotate(kernels::RotaryDirection direction, std::span<float> queries,
                std::span<float> keyValues) const {
        kernels::rotary(direction, shape().heads, shape().headDim, rotary_.cosine, rotary_.sine, queries);
        kernels::rotary(direction, shape().kvHeads, shape().headDim, rotary_.cosine, rotary_.sine,
                        keys(keyValues));
    }

    const TransformerLayer::Setup& setup_;
    const MicroBatchInput& input_;
    const RotaryTables& rotary_;
    ContextParallelAttention attention_;
};

class ForwardPass : LayerPass {
  public:
    ForwardPass(const TransformerLayer::Setup& setup, const MicroBatchInput& input,
                const RotaryTables& rotary, LayerActivations& kept)
        : LayerPass(setup, input, rotary), kept_(kept) {}

    Buffer run() {
        const auto operations =
            layerOperations(setup_.context.cost, Direction::Forward, tokens(), input_.tokens);
        for (const LayerOperation& operation : operations) {
            if (!operation.isCollective)
                runPart(operation.part);
            else if (operation.call.purpose == CollectivePurpose::TensorSum)
                tensorSum(setup_.context, operation.call, label(), partial_);
            else
                attention_.gather(operation.call, kept_.keyValues);
        }
        if (!isEmpty()) {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::addTo(partial_, kept_.middle);
        }
        return std::move(partial_);
    }

  private:
    void runPart(LayerPart part) {
        switch (part) {
            case LayerPart::AttentionInput:
                return attentionInput();
            case LayerPart::Attention:
                kept_.attention = take(shape().queryWidth());
                kept_.logSumExp = take(shape().heads);
                return attention_.forward(kept_.queries, kept_.keyValues, kept_.attention, kept_.logSumExp);
            case LayerPart::AttentionOutput:
                return attentionOutput();
            case LayerPart::FeedForward:
                return feedForward();
        }
    }

    void attentionInput() {
        kept_.normed = take(shape().hidden);
        kept_.inverseRms = take(1);
        kept_.queries = take(shape().queryWidth());
        kept_.keyValues = take(2 * shape().keyWidth());
        if (isEmpty())
            return;
        {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::rmsNormForward(norm(), kept_.input, weight(tensors().inputNorm), kept_.normed,
                                    kept_.inverseRms);
        }
        {
            auto linear =
                scope(SpanKind::LinearForward, queryProjection().flops() + 2 * keyProjection().flops());
            linearForward(queryProjection(), kept_.normed, weight(tensors().query), kept_.queries);
            linearForward(keyProjection(), kept_.normed, weight(tensors().key), keys(kept_.keyValues));
            linearForward(keyProjection(), kept_.normed, weight(tensors().value), values(kept_.keyValues));
        }
        auto elementwise = scope(SpanKind::Elementwise);
        rotate(kernels::RotaryDirection::Forward, kept_.queries, kept_.keyValues);
    }

    void attentionOutput() {
        partial_ = take(shape().hidden);
        if (isEmpty())
            return;
        auto linear = scope(SpanKind::LinearForward, outputProjection().flops());
        linearForward(outputProjection(), kept_.attention, weight(tensors().output), partial_);
    }

    void feedForward() {
        kept_.postNormed = take(shape().hidden);
        kept_.postRms = take(1);
        kept_.gate = take(shape().intermediate);
        kept_.up = take(shape().intermediate);
        kept_.activated = take(shape().intermediate);
        kept_.middle = std::move(partial_);
        partial_ = take(shape().hidden);
        if (isEmpty())
            return;
        {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::addTo(kept_.middle, kept_.input);
            kernels::rmsNormForward(norm(), kept_.middle, weight(tensors().postNorm), kept_.postNormed,
                                    kept_.postRms);
        }
        {
            auto linear = scope(SpanKind::LinearForward, 2 * gateProjection().flops());
            linearForward(gateProjection(), kept_.postNormed, weight(tensors().gate), kept_.gate);
            linearForward(gateProjection(), kept_.postNormed, weight(tensors().up), kept_.up);
        }
        {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::swigluForward(kept_.gate, kept_.up, kept_.activated);
        }
        auto linear = scope(SpanKind::LinearForward, downProjection().flops());
        linearForward(downProjection(), kept_.activated, weight(tensors().down), partial_);
    }

    LayerActivations& kept_;
    Buffer partial_;  ///< a half's output, this rank's summand of it before the tp sum
};

class BackwardPass : LayerPass {
  public:
    BackwardPass(const TransformerLayer::Setup& setup, const MicroBatchInput& input,
                 const RotaryTables& rotary, const LayerActivations& kept, std::span<float> gradient)
        : LayerPass(setup, input, rotary), kept_(kept), gradient_(gradient) {}

    void run() {
        const auto operations =
            layerOperations(setup_.context.cost, Direction::Backward, tokens(), input_.tokens);
        for (const LayerOperation& operation : operations) {
            if (!operation.isCollective)
                runPart(operation.part);
            else if (operation.call.purpose == CollectivePurpose::TensorSum)
                tensorSum(setup_.context, operation.call, label(), normedGradient_);
            else if (operation.call.purpose == CollectivePurpose::GatherKeyValues)
                attention_.gather(operation.call, kept_.keyValues);
            else
                attention_.scatter(operation.call, keyValueGradient_);
        }
        normBackward(kept_.input, kept_.inverseRms, tensors().inputNorm);
    }

  private:
    void runPart(LayerPart part) {
        switch (part) {
            case LayerPart::FeedForward:
                return feedForward();
            case LayerPart::AttentionOutput:
                return attentionOutput();
            case LayerPart::Attention:
                queryGradient_ = take(shape().queryWidth());
                keyValueGradient_ = take(2 * shape().keyWidth());
                attention_.backward(
                    {kept_.queries, kept_.keyValues, kept_.attention, kept_.logSumExp, attentionGradient_},
                    queryGradient_, keyValueGradient_);
                attentionGradient_ = Buffer();
                return;
            case LayerPart::AttentionInput:
                return attentionInput();
        }
    }

    /// The norm stands before products whose input gradient is summed over tp, so its backward follows the
    /// sum. Its gradient joins the residual's.
    void normBackward(std::span<const float> in, std::span<const float> inverseRms, int tensor) {
        if (!isEmpty()) {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::rmsNormBackward(norm(), {in, weight(tensor), inverseRms, normedGradient_}, gradient_,
                                     gradientOf(tensor));
        }
        normedGradient_ = Buffer();
    }

    void feedForward() {
        normedGradient_ = take(shape().hidden);
        if (isEmpty())
            return;
        Buffer upGradient = take(shape().intermediate);
        Buffer gateGradient = take(shape().intermediate);
        {
            auto linear = scope(SpanKind::LinearBackward, 2 * downProjection().flops());
            linearInputGradient(downProjection(), gradient_, weight(tensors().down), upGradient, false);
            linearWeightGradient(downProjection(), gradient_, kept_.activated, gradientOf(tensors().down));
        }
        {
            auto elementwise = scope(SpanKind::Elementwise);
            kernels::swigluBackward({kept_.gate, kept_.up, upGradient}, gateGradient, upGradient);
        }
        auto linear = scope(SpanKind::LinearBackward, 4 * gateProjection().flops());
        linearInputGradient(gateProjection(), gateGradient, weight(tensors().gate), normedGradient_, false);
        linearInputGradient(gateProjection(), upGradient, weight(tensors().up), normedGradient_, true);
        linearWeightGradient(gateProjection(), gateGradient, kept_.postNormed, gradientOf(tensors().gate));
        linearWeightGradient(gateProjection(), upGradient, kept_.postNormed, gradientOf(tensors().up));
    }

    void attentionOutput() {
        normBackward(kept_.middle, kept_.postRms, tensors().postNorm);
        attentionGradient_ = take(shape().queryWidth());
        if (isEmpty())
            return;
        auto linear = scope(SpanKind::LinearBackward, 2 * outputProjection().flops());
        linearInputGradient(outputProjection(), gradient_, weight(tensors().output), attentionGradient_,
                            false);
        linearWeightGradient(outputProjection(), gradient_, kept_.attention, gradientOf(tensors().output));
    }

    void attentionInput() {
        normedGradient_ = take(shape().hidden);
        if (isEmpty())
            return;
        {
            auto elementwise = scope(SpanKind::Elementwise);
            rotate(kernels::RotaryDirection::Inverse, queryGradient_, keyValueGradient_);
        }
        auto linear =
            scope(SpanKind::LinearBackward, 2 * queryProjection().flops() + 4 * keyProjection().flops());
        const std::span<float> key = keys(keyValueGradient_);
        const std::span<float> value = values(keyValueGradient_);
        linearInputGradient(queryProjection(), queryGradient_, weight(tensors().query), normedGradient_,
                            false);
        linearInputGradient(keyProjection(), key, weight(tensors().key), normedGradient_, true);
        linearInputGradient(keyProjection(), value, weight(tensors().value), normedGradient_, true);
        linearWeightGradient(queryProjection(), queryGradient_, kept_.normed, gradientOf(tensors().query));
        linearWeightGradient(keyProjection(), key, kept_.normed, gradientOf(tensors().key));
        linearWeightGradient(keyProjection(), value, kept_.normed, gradientOf(tensors().value));
    }

    const LayerActivations& kept_;
    std::span<float> gradient_;  ///< of the residual stream
    Buffer normedGradient_;
    Buffer attentionGradient_;
    Buffer queryGradient_;
    Buffer keyValueGradient_;
};

}  // namespace

Buffer TransformerLayer::forward(const MicroBatchInput& input, const RotaryTables& rotary, Buffer hidden,
                                 LayerActivations& kept) const {
    kept.input = std::move(hidden);
    return ForwardPass(setup_, input, rotary, kept).run();
}

void TransformerLayer::backward(const MicroBatchInput& input, const RotaryTables& rotary,
                                const LayerActivations& kept, std::span<float> gradient) const {
    BackwardPass(setup_, input, rotary, kept, gradient).run();
}

}  // namespace ballast::backend
