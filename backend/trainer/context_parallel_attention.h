// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/model/parameters.h"
#include "backend/trainer/micro_batch_input.h"
#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// Attention of one layer over the context-parallel ranks: queries stay where they are, keys and values of
/// the whole micro-batch are gathered, each slice attends to its piece's prefix, and the gradients of keys
/// and values return to their owners summed. Works for any slices per rank, none included; every rank takes
/// part in every collective. Source: Llama 3 (Grattafiori et al. 2024), section 3.3.2, all-gather based CP.
///
/// With the need-based exchange only those rows travel that a later query of another rank attends to, and
/// their gradients back. Sums are taken in the order of the ranks in both, so results are equal to the bit.
///
/// One object a layer pass: gather (cp > 1), then forward; or gather, backward, scatter.
/// Local keys and values are one array, keys [localTokens, kvHeads, headDim] first, values after them.
class ContextParallelAttention {
  public:
    ContextParallelAttention(const RankContext& context, const RankShape& shape, const MicroBatchInput& input,
                             int layer);

    /// The collective of `call`: every rank's keys and values come here, all or those needed, in the order of
    /// the ranks.
    void gather(const CollectiveCall& call, std::span<const float> localKeyValues);

    /// out, logSumExp: as kernels::attentionForward. localKeyValues: used as they are when cp is 1.
    void forward(std::span<const float> queries, std::span<const float> localKeyValues, std::span<float> out,
                 std::span<float> logSumExp);

    struct Saved {
        std::span<const float> queries;
        std::span<const float> localKeyValues;
        std::span<const float> out;
        std::span<const float> logSumExp;
        std::span<const float> outGradient;
    };
    /// Writes the queries' gradient; the keys' and values' wait for `scatter` when cp > 1, else they are
    /// written to localGradient.
    void backward(const Saved& saved, std::span<float> queryGradient, std::span<float> localGradient);
    void scatter(const CollectiveCall& call, std::span<float> localGradient);

    SpanLabel label(double flopsPerPair) const;

  private:
    /// Between rows by rank (each rank's keys, then its values) and packed order (all keys, then all values).
    void pack(std::span<const float> byRank, std::span<float> packed) const;
    void unpack(std::span<const float> packed, std::span<float> byRank) const;
    void gatherNeeded(const CollectiveCall& call, std::span<const float> localKeyValues);
    void packNeeded(std::span<const float> localKeyValues);
    void unpackNeeded(std::span<const float> packedGradient, std::span<float> localGradient);
    void scatterNeeded(const CollectiveCall& call, std::span<float> localGradient);
    TimedCall neededCall(const CollectiveCall& call) const;
    std::span<const float> packedKeyValues(std::span<const float> localKeyValues);

    const RankContext* context_;
    const RankShape* shape_;
    const MicroBatchInput* input_;
    int layer_;
    Buffer gathered_;  ///< by rank: its keys, its values; need-based: of the rows that go between two ranks
    Buffer packed_;    ///< all keys in packed order, then all values
};

}  // namespace ballast::backend
