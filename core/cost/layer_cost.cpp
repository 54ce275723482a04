// SPDX-License-Identifier: Apache-2.0
// The parts of a decoder layer, of the embedding and of the head: products from the GEMM table, element-wise
// work as bytes over memory bandwidth. Element counts are derived in core/cost/README.md.
#include <fmt/format.h>

#include <algorithm>

#include "core/cost/cost_model.h"
#include "core/cost/elementwise_cost.h"

namespace ballast {

Seconds CostModel::product(std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                           Direction direction) const {
    if (direction == Direction::Forward)
        return gemm_.seconds({tokens, outputs, inputs});
    return gemm_.seconds({tokens, inputs, outputs}) + gemm_.seconds({outputs, inputs, tokens});
}

Seconds CostModel::elementwise(std::int64_t tokens, double elementsPerToken) const {
    const double bytes = static_cast<double>(tokens) * elementsPerToken * activationBytes();
    return Seconds(bytes / (cluster_.hbmGBps * 1e9));
}

LayerPartSeconds CostModel::attentionInput(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const std::int64_t queries = model_.heads / layout_.tp * model_.headDim;
    const std::int64_t keys = model_.kvHeads / layout_.tp * model_.headDim;
    const double norm = direction == Direction::Forward ? kNormForwardTensors : kNormBackwardTensors;
    return {product(tokens, queries, model_.hiddenSize, direction) +
                product(tokens, keys, model_.hiddenSize, direction) * 2.0,
            elementwise(tokens, norm * static_cast<double>(model_.hiddenSize) +
                                    kRotaryTensors * static_cast<double>(queries + keys))};
}

LayerPartSeconds CostModel::attentionOutput(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const std::int64_t queries = model_.heads / layout_.tp * model_.headDim;
    // The norm after attention waits in the backward for the tp sum, so it runs with this part.
    const double norm = direction == Direction::Forward ? 0 : kNormBackwardTensors;
    return {product(tokens, model_.hiddenSize, queries, direction),
            elementwise(tokens, norm * static_cast<double>(model_.hiddenSize))};
}

LayerPartSeconds CostModel::feedForward(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const std::int64_t inner = model_.intermediateSize / layout_.tp;
    const bool forward = direction == Direction::Forward;
    // Both residual additions of a layer's forward follow a tp sum: one before this part's norm, one at its
    // end.
    const double hidden = forward ? 2 * kResidualTensors + kNormForwardTensors : 0;
    const double swiglu = forward ? kSwigluForwardTensors : kSwigluBackwardTensors;
    return {product(tokens, inner, model_.hiddenSize, direction) * 2.0 +
                product(tokens, model_.hiddenSize, inner, direction),
            elementwise(tokens, hidden * static_cast<double>(model_.hiddenSize) +
                                    swiglu * static_cast<double>(inner))};
}

Seconds CostModel::embedding(std::int64_t tokens, Direction direction) const {
    const bool forward = direction == Direction::Forward;
    const double tensors = forward ? kEmbeddingForwardTensors : kEmbeddingBackwardTensors;
    return elementwise(std::max<std::int64_t>(tokens, 0), tensors * static_cast<double>(model_.hiddenSize));
}

LayerPartSeconds CostModel::head(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const bool forward = direction == Direction::Forward;
    const std::int64_t vocabulary = model_.vocabularySize / layout_.tp;
    const double norm = forward ? kNormForwardTensors : kNormBackwardTensors;
    // Logits are fp32 in either precision.
    constexpr double kLogitBytes = 4;
    const double logits = (forward ? kCrossEntropyForwardTensors : kCrossEntropyBackwardTensors) *
                          static_cast<double>(vocabulary) * kLogitBytes / activationBytes();
    return {product(tokens, vocabulary, model_.hiddenSize, direction),
            elementwise(tokens, norm * static_cast<double>(model_.hiddenSize) + logits)};
}

Seconds CostModel::optimizer(std::int64_t parameters) const {
    const double bytes = activationBytes() == 4 ? kOptimizerBytesFp32 : kOptimizerBytesBf16;
    return Seconds(static_cast<double>(parameters) * bytes / (cluster_.hbmGBps * 1e9));
}

Seconds CostModel::attention(std::span<const AttentionBlock> blocks, Direction direction) const {
    TileCount count;
    for (const AttentionBlock& block : blocks)
        count += countTiles(block);
    if (count.tokens == 0)
        return Seconds(0);
    const bool forward = direction == Direction::Forward;
    return tileSeconds(forward ? forwardTiles_ : backwardTiles_, count, headsPerRank_, true);
}

std::vector<std::string> CostModel::notices() const {
    std::vector<std::string> notices;
    const AttentionCurve& curve = nearestCurve(cluster_.attention, model_.headDim);
    if (curve.headDim != model_.headDim)
        notices.push_back(
            fmt::format("extrapolated: attention of head_dim {} from {}", model_.headDim, curve.headDim));
    if (curve.backward.assumed)
        notices.push_back(fmt::format("assumed: attention backward = {:.3g} x forward",
                                      curve.backward.a / curve.forward.a));
    if (curve.forward.assumed)
        notices.push_back("assumed: attention forward");
    if (cluster_.gemmAssumed)
        notices.push_back("assumed: matrix products, derived from another device");
    if (speedup_ != 1.0)
        notices.push_back(
            fmt::format("extrapolated: {} from the cluster's measurements by the ratio of the peaks, "
                        "{:.3g}",
                        precision_, speedup_));
    const std::int64_t tokens = std::max<std::int64_t>(1, scenario_.lengths.window / layout_.cp);
    const std::int64_t queries = model_.heads / layout_.tp * model_.headDim;
    const std::int64_t keys = model_.kvHeads / layout_.tp * model_.headDim;
    const std::int64_t inner = model_.intermediateSize / layout_.tp;
    const GemmShape shapes[] = {{tokens, queries, model_.hiddenSize},
                                {tokens, keys, model_.hiddenSize},
                                {tokens, model_.hiddenSize, queries},
                                {tokens, inner, model_.hiddenSize},
                                {tokens, model_.hiddenSize, inner},
                                {tokens, model_.vocabularySize / layout_.tp, model_.hiddenSize}};
    for (const GemmShape& shape : shapes)
        if (gemm_.isExtrapolated(shape))
            notices.push_back(
                fmt::format("extrapolated: matrix product {} x {} x {} is outside the measured table",
                            shape.m, shape.n, shape.k));
    for (const Link& link : cluster_.links)
        if (link.assumed)
            notices.push_back(fmt::format("assumed: link {}", link.scope));
    return notices;
}

}  // namespace ballast
