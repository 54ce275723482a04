// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/cost/collective_cost.h"
#include "core/cost/cost_model.h"

namespace ballast {

/// Which ranks take part. DataAndContext = the dp x cp group; EmbeddingPair = first and last stage of a tied
/// embedding.
enum class GroupAxis { Tensor, Context, DataAndContext, EmbeddingPair, World };

/// The parts of a decoder layer between collectives, in forward order.
enum class LayerPart { AttentionInput, Attention, AttentionOutput, FeedForward };

/// Why a collective happens; fixes its span kind (tp_collective, cp_gather, cp_scatter, dp_reduce).
enum class CollectivePurpose {
    TensorSum,
    GatherKeyValues,
    ScatterKeyValueGradients,
    GradientSum,
    TiedEmbeddingSum,
    NormSum,
    LossSum
};

struct CollectiveCall {
    CollectivePurpose purpose;
    GroupAxis axis;
    CollectiveOperation operation;
    Bytes bytes;  ///< of the full tensor
};

/// One thing of a layer's pass: a compute part, or a blocking collective.
struct LayerOperation {
    bool isCollective = false;
    LayerPart part{};
    CollectiveCall call{};
};

/// Forward: attention input | gather K,V (cp > 1) | attention | attention output | tp sum (tp > 1) |
/// feed-forward | tp sum (tp > 1). Backward: feed-forward | tp sum | attention output | gather K,V |
/// attention | scatter dK,dV | attention input | tp sum. The one list that the trainer runs and the simulator
/// times (trainer.md, "Two clocks"). rankTokens: tokens of this cp rank; microBatchTokens: of all cp ranks
/// (the gather's full tensor).
std::vector<LayerOperation> layerOperations(const CostModel& cost, Direction direction,
                                            std::int64_t rankTokens, std::int64_t microBatchTokens);

/// Collectives of the vocabulary-parallel embedding (forward: one tp sum; backward: none) and of the head:
/// forward tp sums of the row maxima, then of exponential sums and target logits (fp32); backward: one tp sum
/// of the hidden gradient. Empty when tp is 1.
std::vector<CollectiveCall> embeddingCollectives(const CostModel& cost, Direction direction,
                                                 std::int64_t rankTokens);
std::vector<CollectiveCall> headCollectives(const CostModel& cost, Direction direction,
                                            std::int64_t rankTokens);

/// Once a step on a rank of stage pp, in order: gradient sum over dp x cp (bytes: the stage's gradients,
/// fp32), tied-embedding sum (first and last stage, pp > 1 and tied), norm sum and loss sum over the world (8
/// bytes each). Groups of one rank are left out.
std::vector<CollectiveCall> stepCollectives(const CostModel& cost, int pp, int tp);

/// The ranks of `rank`'s group along an axis, ascending. A middle stage is alone in its embedding pair.
std::vector<int> groupRanks(const Layout& layout, GroupAxis axis, int rank);

}  // namespace ballast
