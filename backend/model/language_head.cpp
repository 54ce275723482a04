// SPDX-License-Identifier: Apache-2.0
#include "backend/model/language_head.h"

#include "backend/trainer/tensor_parallel_linear.h"
#include "kernels/cross_entropy.h"
#include "kernels/rms_norm.h"

namespace ballast::backend {

namespace {

kernels::CrossEntropyRows rowsOf(const MicroBatchInput& input, const HeadActivations& kept) {
    return {input.targets, kept.rowMaximum};
}

std::span<float> sumExp(const HeadActivations& kept) {
    return kept.sums.numbers().subspan(0, kept.sums.size() / 2);
}

std::span<float> targetLogit(const HeadActivations& kept) {
    return kept.sums.numbers().subspan(kept.sums.size() / 2);
}

SpanLabel labelOf(const MicroBatchInput& input, double flops = 0) {
    return {input.index, -1, input.localTokens, flops, input.heaviestDocument};
}

}  // namespace

double LanguageHead::forward(const MicroBatchInput& input, Buffer hidden, HeadActivations& kept) const {
    const RankContext& context = setup_.context;
    const std::int64_t tokens = input.localTokens;
    const LinearShape head{tokens, setup_.shape.hidden, setup_.shape.vocabulary.size()};
    kept.input = std::move(hidden);
    kept.inverseRms = context.arena.take(MemoryClass::Activations, tokens);
    kept.normed = context.arena.take(MemoryClass::Activations, tokens * head.in);
    kept.logits = context.arena.take(MemoryClass::Logits, tokens * head.out);
    kept.rowMaximum = context.arena.take(MemoryClass::Logits, tokens);
    kept.sums = context.arena.take(MemoryClass::Logits, 2 * tokens);
    const auto calls = headCollectives(context.cost, Direction::Forward, tokens);
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
        kernels::rmsNormForward({tokens, head.in, setup_.normEpsilon}, kept.input,
                                setup_.parameters.weights(setup_.parameters.finalNorm()), kept.normed,
                                kept.inverseRms);
    }
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::LinearForward, labelOf(input, head.flops()));
        linearForward(head, kept.normed, setup_.parameters.weights(setup_.parameters.head()), kept.logits);
    }
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
        kernels::crossEntropyMaximum(setup_.shape.vocabulary, kept.logits, kept.rowMaximum);
    }
    if (!calls.empty())
        tensorSum(context, calls[0], labelOf(input), kept.rowMaximum, Reduction::Maximum);
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
        kernels::crossEntropySums(setup_.shape.vocabulary, rowsOf(input, kept), kept.logits, sumExp(kept),
                                  targetLogit(kept));
    }
    if (!calls.empty())
        tensorSum(context, calls[1], labelOf(input), kept.sums);
    if (tokens == 0)
        return 0;
    ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
    return kernels::crossEntropyLoss(rowsOf(input, kept), sumExp(kept), targetLogit(kept));
}

Buffer LanguageHead::backward(const MicroBatchInput& input, HeadActivations& kept, double scale) const {
    const RankContext& context = setup_.context;
    const std::int64_t tokens = input.localTokens;
    const LinearShape head{tokens, setup_.shape.hidden, setup_.shape.vocabulary.size()};
    const int headTensor = setup_.parameters.head();
    const int norm = setup_.parameters.finalNorm();
    Buffer normedGradient = context.arena.take(MemoryClass::Activations, tokens * head.in);
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
        kernels::crossEntropyGradient(setup_.shape.vocabulary, rowsOf(input, kept), sumExp(kept),
                                      static_cast<float>(scale), kept.logits);
    }
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::LinearBackward, labelOf(input, 2 * head.flops()));
        linearInputGradient(head, kept.logits, setup_.parameters.weights(headTensor), normedGradient, false);
        linearWeightGradient(head, kept.logits, kept.normed, setup_.parameters.gradients(headTensor));
    }
    for (const CollectiveCall& call : headCollectives(context.cost, Direction::Backward, tokens))
        tensorSum(context, call, labelOf(input), normedGradient);
    Buffer gradient = context.arena.takeZeros(MemoryClass::Activations, tokens * head.in);
    if (tokens > 0) {
        ComputeScope scope(context.spans, SpanKind::Loss, labelOf(input));
        kernels::rmsNormBackward(
            {tokens, head.in, setup_.normEpsilon},
            {kept.input, setup_.parameters.weights(norm), kept.inverseRms, normedGradient}, gradient,
            setup_.parameters.gradients(norm));
    }
    return gradient;
}

}  // namespace ballast::backend
