// SPDX-License-Identifier: Apache-2.0
#include "core/cost/cost_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace ballast {
namespace {

std::string precisionOf(const Scenario& scenario, const ClusterSpec& cluster) {
    if (scenario.precision != "auto")
        return scenario.precision;
    return cluster.peakTflops.contains("bf16") ? "bf16" : "fp32";
}

/// A cluster's tables hold its fastest precision; another one is slower by the ratio of the peaks.
double speedupOver(const ClusterSpec& cluster, const std::string& precision) {
    const std::string measured = cluster.peakTflops.contains("bf16") ? "bf16" : "fp32";
    return precision == measured ? 1.0 : cluster.peakFlops(precision) / cluster.peakFlops(measured);
}

void requireDivides(std::string_view what, std::int64_t whole, std::int64_t tp) {
    if (whole % tp != 0)
        throw Error(
            fmt::format("layout.tp: expected a divisor of the model's {}, {}, found {}", what, whole, tp));
}

const std::vector<GemmPoint>& measuredProducts(const ClusterSpec& cluster) {
    if (cluster.gemm.empty())
        throw Error(
            fmt::format("cluster {}: gemm.table: expected at least one measured product", cluster.name));
    if (cluster.attention.empty())
        throw Error(fmt::format("cluster {}: attention: expected at least one measured curve", cluster.name));
    return cluster.gemm;
}

}  // namespace

CostModel::CostModel(const Scenario& scenario, const ModelSpec& model, const ClusterSpec& cluster,
                     CostPass pass)
    : scenario_(scenario),
      model_(model),
      cluster_(cluster),
      layout_(scenario.layout),
      pass_(pass),
      precision_(precisionOf(scenario, cluster)),
      speedup_(speedupOver(cluster, precision_)),
      gemm_(measuredProducts(cluster), speedup_) {
    if (scenario.cost.model == "quadratic" && !scenario.cost.crossoverTokens)
        throw Error("cost.crossover_tokens: expected a number of tokens, since cost.model is quadratic");
    checkLayoutFitsModel();
    chooseStages();
    chooseAttention();
    measureLinearPart();
}

void CostModel::checkLayoutFitsModel() const {
    requireDivides("attention heads", model_.heads, layout_.tp);
    requireDivides("key-value heads", model_.kvHeads, layout_.tp);
    requireDivides("intermediate size", model_.intermediateSize, layout_.tp);
    requireDivides("vocabulary size", model_.vocabularySize, layout_.tp);
    if (layout_.pp > model_.layers)
        throw Error(fmt::format("layout.pp: expected at most the model's layers, {}, found {}", model_.layers,
                                layout_.pp));
}

void CostModel::chooseStages() {
    if (scenario_.schedule.stages) {
        stageLayers_ = *scenario_.schedule.stages;
        const std::int64_t sum = std::accumulate(stageLayers_.begin(), stageLayers_.end(), std::int64_t{0});
        if (static_cast<std::int64_t>(stageLayers_.size()) != layout_.pp || sum != model_.layers)
            throw Error(
                fmt::format("schedule.stages: expected {} numbers that add up to the model's {} layers, "
                            "found {} that add up to {}",
                            layout_.pp, model_.layers, stageLayers_.size(), sum));
    } else {
        stageLayers_.assign(static_cast<std::size_t>(layout_.pp), model_.layers / layout_.pp);
        for (std::int64_t stage = 0; stage < model_.layers % layout_.pp; ++stage)
            ++stageLayers_[static_cast<std::size_t>(stage)];
    }
    workloadLayers_ = static_cast<double>(*std::max_element(stageLayers_.begin(), stageLayers_.end()));
}

void CostModel::chooseAttention() {
    const AttentionCurve& curve = nearestCurve(cluster_.attention, model_.headDim);
    const auto adapted = [&](const TileConstants& measured) {
        TileConstants constants = scaledToHeadDim(measured, curve.headDim, model_.headDim);
        constants.a /= speedup_;
        constants.c /= speedup_;
        return constants;
    };
    forwardTiles_ = adapted(curve.forward);
    backwardTiles_ = adapted(curve.backward);
    headsPerRank_ = static_cast<double>(model_.heads / layout_.tp);
    const double launch = forwardTiles_.d + (pass_ == CostPass::Both ? backwardTiles_.d : 0.0);
    launchSeconds_ = launch * 1e-3 * workloadLayers_;
}

/// The linear part is taken at one length, a window: the packers need it additive over pieces.
void CostModel::measureLinearPart() {
    const std::int64_t window = std::max<std::int64_t>(scenario_.lengths.window, layout_.cp);
    const std::int64_t tokens = window / layout_.cp;
    const auto direction = [&](Direction way) {
        return attentionInput(tokens, way).total() + attentionOutput(tokens, way).total() +
               feedForward(tokens, way).total();
    };
    Seconds layer = direction(Direction::Forward);
    if (pass_ == CostPass::Both)
        layer += direction(Direction::Backward);

    const bool both = pass_ == CostPass::Both;
    const std::int64_t element = activationBytes();
    if (layout_.tp > 1) {
        std::vector<int> group;
        for (int tp = 0; tp < layout_.tp; ++tp)
            group.push_back(layout_.rankOf({tp, 0, 0, 0}));
        const Bytes hidden(tokens * model_.hiddenSize * element);
        const double sums = both ? 4 : 2;
        layer += collective(CollectiveOperation::AllReduce, hidden, group) * sums;
    }
    if (layout_.cp > 1) {
        std::vector<int> group;
        for (int cp = 0; cp < layout_.cp; ++cp)
            group.push_back(layout_.rankOf({0, cp, 0, 0}));
        const Bytes keyValues(window * 2 * (model_.kvHeads / layout_.tp) * model_.headDim * element);
        layer += collective(CollectiveOperation::AllGather, keyValues, group) * (both ? 2.0 : 1.0);
        if (both)
            layer += collective(CollectiveOperation::ReduceScatter, keyValues, group);
    }
    linearSecondsPerToken_ = layer.value() * workloadLayers_ / static_cast<double>(window);
}

int CostModel::activationBytes() const {
    return precision_ == "bf16" ? 2 : 4;
}

double CostModel::tileWork(std::int64_t length) const {
    const TileCount count = countTiles({length, 0});
    Seconds layer = tileSeconds(forwardTiles_, count, headsPerRank_, false);
    if (pass_ == CostPass::Both)
        layer += tileSeconds(backwardTiles_, count, headsPerRank_, false);
    return layer.value() * workloadLayers_ / layout_.cp;
}

double CostModel::pieceWork(std::int64_t length) const {
    if (length <= 0)
        return 0;
    const auto tokens = static_cast<double>(length);
    if (scenario_.cost.model == "quadratic")
        return tokens * static_cast<double>(*scenario_.cost.crossoverTokens) + tokens * tokens;
    return tileWork(length) + linearSecondsPerToken_ * tokens;
}

Seconds CostModel::workload(double pieceWorkSum) const {
    if (!(pieceWorkSum > 0))
        return Seconds(0);
    if (scenario_.cost.model == "quadratic")
        return Seconds(pieceWorkSum / static_cast<double>(*scenario_.cost.crossoverTokens) *
                       linearSecondsPerToken_);
    return Seconds(pieceWorkSum + launchSeconds_);
}

Seconds CostModel::attentionWorkload(std::int64_t length) const {
    if (length <= 0)
        return Seconds(0);
    if (scenario_.cost.model == "quadratic") {
        const auto tokens = static_cast<double>(length);
        return Seconds(tokens * tokens / static_cast<double>(*scenario_.cost.crossoverTokens) *
                       linearSecondsPerToken_);
    }
    return Seconds(tileWork(length));
}

double CostModel::speed(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < cluster_.gpuSpeed.size() ? cluster_.gpuSpeed[index] : 1.0;
}

Seconds CostModel::collective(CollectiveOperation operation, Bytes fullTensor,
                              std::span<const int> groupRanks) const {
    if (groupRanks.size() <= 1)
        return Seconds(0);
    return collectiveSeconds(operation, static_cast<int>(groupRanks.size()), fullTensor,
                             groupLink(cluster_, groupRanks));
}

Seconds CostModel::pointToPoint(Bytes bytes, int fromRank, int toRank) const {
    if (fromRank == toRank)
        return Seconds(0);
    const bool inside = fromRank / cluster_.gpusPerNode == toRank / cluster_.gpusPerNode;
    return pointToPointSeconds(bytes, cluster_.link(inside));
}

}  // namespace ballast
