// SPDX-License-Identifier: Apache-2.0
// The parts of a decoder layer, of the embedding and of the head: products from the GEMM table, element-wise
// work as bytes over memory bandwidth. Element counts are derived in core/cost/README.md.
#include <fmt/format.h>

#include <algorithm>

#include "core/cost/cost_model.h"

namespace ballast {
namespace {

/// Tensors of one width that an element-wise kernel reads or writes.
constexpr double kNormForward = 2;     // x, y
constexpr double kNormBackward = 3;    // dy, x, dx
constexpr double kRotary = 2;          // in place: read, write
constexpr double kResidual = 3;        // two read, one written
constexpr double kSwigluForward = 3;   // gate, up, product
constexpr double kSwigluBackward = 5;  // gate, up, d product; d gate, d up

}  // namespace

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
    const auto hidden = static_cast<double>(model_.hiddenSize);
    const double rotary = kRotary * static_cast<double>(queries + keys);
    const double norm = direction == Direction::Forward ? kNormForward : kNormBackward + kResidual;
    return {product(tokens, queries + 2 * keys, model_.hiddenSize, direction),
            elementwise(tokens, norm * hidden + rotary)};
}

LayerPartSeconds CostModel::attentionOutput(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const std::int64_t queries = model_.heads / layout_.tp * model_.headDim;
    const double residual = direction == Direction::Forward ? kResidual : 0;
    return {product(tokens, model_.hiddenSize, queries, direction),
            elementwise(tokens, residual * static_cast<double>(model_.hiddenSize))};
}

LayerPartSeconds CostModel::feedForward(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    const std::int64_t inner = model_.intermediateSize / layout_.tp;
    const bool forward = direction == Direction::Forward;
    const double norm = (forward ? kNormForward : kNormBackward) + kResidual;
    const double swiglu = forward ? kSwigluForward : kSwigluBackward;
    return {product(tokens, 2 * inner, model_.hiddenSize, direction) +
                product(tokens, model_.hiddenSize, inner, direction),
            elementwise(tokens,
                        norm * static_cast<double>(model_.hiddenSize) + swiglu * static_cast<double>(inner))};
}

Seconds CostModel::embedding(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return Seconds(0);
    constexpr double kGather = 2;   // row, output
    constexpr double kScatter = 3;  // d output; gradient row read, written
    const double tensors = direction == Direction::Forward ? kGather : kScatter;
    return elementwise(tokens, tensors * static_cast<double>(model_.hiddenSize));
}

LayerPartSeconds CostModel::head(std::int64_t tokens, Direction direction) const {
    if (tokens <= 0)
        return {};
    // Logits are fp32 in either precision: the maximum and the sum read them, the gradient rewrites them.
    constexpr double kLogitBytes = 4;
    constexpr double kLogitTensors = 2;
    const std::int64_t vocabulary = model_.vocabularySize / layout_.tp;
    const double logits = kLogitTensors * kLogitBytes / activationBytes() * static_cast<double>(vocabulary);
    const double norm = direction == Direction::Forward ? kNormForward : kNormBackward;
    return {product(tokens, vocabulary, model_.hiddenSize, direction),
            elementwise(tokens, norm * static_cast<double>(model_.hiddenSize) + logits)};
}

Seconds CostModel::optimizer(std::int64_t parameters) const {
    // Gradient read and cleared, weight and both moments read and written; bf16 adds the working copy.
    const double bytes = activationBytes() == 4 ? 32 : 34;
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
    const GemmShape shapes[] = {{tokens, queries + 2 * keys, model_.hiddenSize},
                                {tokens, model_.hiddenSize, queries},
                                {tokens, 2 * inner, model_.hiddenSize},
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
