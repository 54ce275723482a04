// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/step_collectives.h"

#include "core/base/check.h"
#include "core/cost/memory_cost.h"

namespace ballast {
namespace {

constexpr std::int64_t kFloatBytes = 4;
constexpr std::int64_t kScalarBytes = 8;

std::int64_t ceilDivide(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

LayerOperation compute(LayerPart part) {
    return {false, part, {}};
}

LayerOperation collective(CollectiveCall call) {
    return {true, {}, call};
}

/// The sum of a row-parallel product's outputs, or of a column-parallel product's input gradients.
CollectiveCall tensorSum(const CostModel& cost, std::int64_t rankTokens) {
    std::int64_t bytes = rankTokens * cost.model().hiddenSize * cost.activationBytes();
    return {CollectivePurpose::TensorSum, GroupAxis::Tensor, CollectiveOperation::AllReduce, Bytes(bytes)};
}

Bytes keyValueBytes(const CostModel& cost, std::int64_t microBatchTokens) {
    std::int64_t kvHeads = ceilDivide(cost.model().kvHeads, cost.layout().tp);
    return Bytes(microBatchTokens * 2 * kvHeads * cost.model().headDim * cost.activationBytes());
}

}  // namespace

std::vector<LayerOperation> layerOperations(const CostModel& cost, Direction direction,
                                            std::int64_t rankTokens, std::int64_t microBatchTokens) {
    bool tensor = cost.layout().tp > 1;
    bool context = cost.layout().cp > 1;
    LayerOperation sum = collective(tensorSum(cost, rankTokens));
    Bytes keyValues = keyValueBytes(cost, microBatchTokens);
    LayerOperation gather = collective(
        {CollectivePurpose::GatherKeyValues, GroupAxis::Context, CollectiveOperation::AllGather, keyValues});
    LayerOperation scatter = collective({CollectivePurpose::ScatterKeyValueGradients, GroupAxis::Context,
                                         CollectiveOperation::ReduceScatter, keyValues});
    std::vector<LayerOperation> operations;
    auto add = [&](bool wanted, const LayerOperation& operation) {
        if (wanted)
            operations.push_back(operation);
    };
    if (direction == Direction::Forward) {
        add(true, compute(LayerPart::AttentionInput));
        add(context, gather);
        add(true, compute(LayerPart::Attention));
        add(true, compute(LayerPart::AttentionOutput));
        add(tensor, sum);
        add(true, compute(LayerPart::FeedForward));
        add(tensor, sum);
    } else {
        add(true, compute(LayerPart::FeedForward));
        add(tensor, sum);
        add(true, compute(LayerPart::AttentionOutput));
        add(context, gather);
        add(true, compute(LayerPart::Attention));
        add(context, scatter);
        add(true, compute(LayerPart::AttentionInput));
        add(tensor, sum);
    }
    return operations;
}

std::vector<CollectiveCall> embeddingCollectives(const CostModel& cost, Direction direction,
                                                 std::int64_t rankTokens) {
    if (cost.layout().tp == 1 || direction == Direction::Backward)
        return {};
    return {tensorSum(cost, rankTokens)};
}

std::vector<CollectiveCall> headCollectives(const CostModel& cost, Direction direction,
                                            std::int64_t rankTokens) {
    if (cost.layout().tp == 1)
        return {};
    if (direction == Direction::Backward)
        return {tensorSum(cost, rankTokens)};
    auto rows = [&](std::int64_t values) {
        return CollectiveCall{CollectivePurpose::TensorSum, GroupAxis::Tensor, CollectiveOperation::AllReduce,
                              Bytes(rankTokens * values * kFloatBytes)};
    };
    // The sum of exponentials and the target's logit travel together, after the maximum they both need.
    return {rows(1), rows(2)};
}

std::vector<CollectiveCall> stepCollectives(const CostModel& cost, int pp, int tp) {
    const Layout& layout = cost.layout();
    const ModelSpec& model = cost.model();
    std::vector<CollectiveCall> calls;
    auto add = [&](CollectivePurpose purpose, GroupAxis axis, std::int64_t bytes) {
        calls.push_back({purpose, axis, CollectiveOperation::AllReduce, Bytes(bytes)});
    };
    if (layout.dp * layout.cp > 1)
        add(CollectivePurpose::GradientSum, GroupAxis::DataAndContext,
            stageParameters(cost, pp, tp) * kFloatBytes);
    if (model.tiedEmbeddings && layout.pp > 1 && (pp == 0 || pp == layout.pp - 1))
        add(CollectivePurpose::TiedEmbeddingSum, GroupAxis::EmbeddingPair,
            ceilDivide(model.vocabularySize, layout.tp) * model.hiddenSize * kFloatBytes);
    if (layout.worldSize() > 1) {
        add(CollectivePurpose::NormSum, GroupAxis::World, kScalarBytes);
        add(CollectivePurpose::LossSum, GroupAxis::World, kScalarBytes);
    }
    return calls;
}

std::vector<int> groupRanks(const Layout& layout, GroupAxis axis, int rank) {
    BALLAST_CHECK(rank >= 0 && rank < layout.worldSize());
    Coordinate at = layout.coordinateOf(rank);
    std::vector<int> ranks;
    switch (axis) {
        case GroupAxis::Tensor:
            for (int tp = 0; tp < layout.tp; ++tp)
                ranks.push_back(layout.rankOf({tp, at.cp, at.dp, at.pp}));
            break;
        case GroupAxis::Context:
            for (int cp = 0; cp < layout.cp; ++cp)
                ranks.push_back(layout.rankOf({at.tp, cp, at.dp, at.pp}));
            break;
        case GroupAxis::DataAndContext:
            for (int dp = 0; dp < layout.dp; ++dp)
                for (int cp = 0; cp < layout.cp; ++cp)
                    ranks.push_back(layout.rankOf({at.tp, cp, dp, at.pp}));
            break;
        case GroupAxis::EmbeddingPair:
            if (layout.pp > 1 && (at.pp == 0 || at.pp == layout.pp - 1)) {
                ranks.push_back(layout.rankOf({at.tp, at.cp, at.dp, 0}));
                ranks.push_back(layout.rankOf({at.tp, at.cp, at.dp, layout.pp - 1}));
            } else {
                ranks.push_back(rank);
            }
            break;
        case GroupAxis::World:
            for (int other = 0; other < layout.worldSize(); ++other)
                ranks.push_back(other);
            break;
    }
    return ranks;
}

}  // namespace ballast
