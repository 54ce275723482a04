// SPDX-License-Identifier: Apache-2.0
#include "core/cost/memory_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace ballast {
namespace {

struct ParameterBytes {
    double weights;
    double gradients;
    double optimizer;
};

/// fp32 keeps weight, gradient, two moments; bf16 a working copy, an fp32 gradient, and master weight with
/// two moments, 18 in all (Megatron-LM).
ParameterBytes parameterBytes(const CostModel& cost) {
    return cost.activationBytes() == 4 ? ParameterBytes{4, 4, 8} : ParameterBytes{2, 4, 12};
}

bool isLastStage(const CostModel& cost, int pp) {
    return pp == cost.layout().pp - 1;
}

/// Per layer and token of a rank, core/cost/README.md. With bf16 the norms and residuals are split over tp as
/// well (sequence parallelism, Megatron's habit); with fp32 every tp rank holds them whole, as the trainer
/// does.
double layerBytesPerToken(const CostModel& cost) {
    const ModelSpec& model = cost.model();
    const double tp = cost.layout().tp;
    const bool sequenceParallel = cost.activationBytes() == 2;
    const double whole = 4.0 * static_cast<double>(model.hiddenSize) / (sequenceParallel ? tp : 1.0);
    const auto queries = static_cast<double>(model.heads * model.headDim);
    const auto keys = static_cast<double>(model.kvHeads * model.headDim);
    const double split =
        (2.0 * queries + 2.0 * keys + 3.0 * static_cast<double>(model.intermediateSize)) / tp;
    constexpr double kLogSumExpBytes = 4;
    return (whole + split) * cost.activationBytes() + kLogSumExpBytes * static_cast<double>(model.heads) / tp;
}

Bytes bytesOf(double bytes) {
    return Bytes(static_cast<std::int64_t>(bytes));
}

}  // namespace

std::int64_t stageParameters(const CostModel& cost, int pp, int tp) {
    // Every tp rank holds the same share, since tp divides what is split.
    static_cast<void>(tp);
    const ModelSpec& model = cost.model();
    const std::int64_t degree = cost.layout().tp;
    const std::int64_t layer = model.matmulParametersPerLayer() / degree + 2 * model.hiddenSize;
    std::int64_t parameters = cost.stageLayers()[static_cast<std::size_t>(pp)] * layer;
    const std::int64_t table = model.vocabularySize / degree * model.hiddenSize;
    const bool first = pp == 0;
    const bool last = isLastStage(cost, pp);
    if (first)
        parameters += table;
    if (last) {
        parameters += model.hiddenSize;
        // A tied head is the embedding itself on one stage and a copy of it on two.
        if (!model.tiedEmbeddings || !first)
            parameters += table;
    }
    return parameters;
}

MemoryBreakdown stageMemory(const CostModel& cost, int pp, std::int64_t inFlightTokens,
                            std::int64_t largestTokens, std::int64_t gatheredTokens) {
    const ModelSpec& model = cost.model();
    const std::int64_t tp = cost.layout().tp;
    const auto parameters = static_cast<double>(stageParameters(cost, pp, 0));
    const ParameterBytes each = parameterBytes(cost);
    const auto layers = static_cast<double>(cost.stageLayers()[static_cast<std::size_t>(pp)]);
    MemoryBreakdown memory;
    memory.weights = bytesOf(parameters * each.weights);
    memory.gradients = bytesOf(parameters * each.gradients);
    memory.optimizer = bytesOf(parameters * each.optimizer);
    memory.activations = bytesOf(static_cast<double>(inFlightTokens) * layers * layerBytesPerToken(cost));
    if (cost.layout().cp > 1) {
        // One layer at a time: K and V, and in the backward their gradients too.
        constexpr double kTensors = 4;
        memory.gatheredKeyValues =
            bytesOf(static_cast<double>(gatheredTokens) * kTensors *
                    static_cast<double>(model.kvHeads / tp * model.headDim) * cost.activationBytes());
    }
    if (isLastStage(cost, pp)) {
        constexpr double kLogitBytes = 4;
        memory.logits = bytesOf(static_cast<double>(largestTokens) *
                                static_cast<double>(model.vocabularySize / tp) * kLogitBytes);
    }
    return memory;
}

namespace {

MemoryBreakdown memoryAtLength(const CostModel& cost, const Scenario& scenario, int pp, std::int64_t length) {
    const Layout& layout = cost.layout();
    const std::int64_t onRank = (length + layout.cp - 1) / layout.cp;
    const std::int64_t inFlight = std::min(layout.pp - pp, scenario.microBatches);
    return stageMemory(cost, pp, inFlight * onRank, onRank, length);
}

bool fits(const CostModel& cost, const Scenario& scenario, std::int64_t length, double limit) {
    for (int pp = 0; pp < cost.layout().pp; ++pp)
        if (static_cast<double>(memoryAtLength(cost, scenario, pp, length).total().value()) > limit)
            return false;
    return true;
}

}  // namespace

std::int64_t largestMicroBatch(const CostModel& cost, const Scenario& scenario) {
    constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
    const double limit = cost.cluster().memoryGiB * kGiB;
    for (int pp = 0; pp < cost.layout().pp; ++pp) {
        const auto needed = static_cast<double>(memoryAtLength(cost, scenario, pp, 1).total().value());
        if (needed > limit)
            throw Error(
                fmt::format("stage {} needs {:.3g} GiB on each rank for micro-batches of one token; the "
                            "cluster {} has {:.3g} GiB",
                            pp, needed / kGiB, cost.cluster().name, cost.cluster().memoryGiB));
    }
    std::int64_t least = 1;
    std::int64_t most = 2 * scenario.lengths.window;
    while (least < most) {
        const std::int64_t middle = least + (most - least + 1) / 2;
        if (fits(cost, scenario, middle, limit))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

}  // namespace ballast
