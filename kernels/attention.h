// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/device.h"

namespace ballast::kernels {

/// Causal attention inside documents, for one context-parallel rank: its own queries, and the keys and values
/// of all pieces that they attend to, gathered. It is not a general attention: no bias, no dropout, no
/// window.

struct AttentionShape {
    std::int64_t heads =
        0;  ///< query heads, a multiple of kvHeads; head h reads key head h / (heads / kvHeads)
    std::int64_t kvHeads = 0;  ///< key and value heads
    std::int64_t headDim = 0;
    float scale = 1.0F;  ///< of the scores, usually 1 / sqrt(headDim)
};

/// One slice of a piece: query i (row queryOffset + i of Q) attends the keys in rows keyOffset .. keyOffset +
/// prefix + i of K and V, both ends included. Slices may share keys; no two share a query.
struct AttentionBlock {
    std::int64_t queryOffset = 0;  ///< row in Q of the slice's first query
    std::int64_t queries = 0;      ///< may be 0
    std::int64_t prefix = 0;       ///< tokens of the same piece before the first query
    std::int64_t keyOffset = 0;    ///< row in K and V of the piece's first key
};

/// Query-key pairs that the mask of `blocks` lets through: the sum of q*prefix + q*(q+1)/2.
std::int64_t attentionPairs(std::span<const AttentionBlock> blocks);

struct AttentionInputs {
    std::span<const float> q;  ///< [tokens, heads, headDim]
    std::span<const float> k;  ///< [kvTokens, kvHeads, headDim]
    std::span<const float> v;  ///< [kvTokens, kvHeads, headDim]
};

/// What the forward pass leaves for the backward pass.
struct AttentionOutputs {
    std::span<float> out;  ///< [tokens, heads, headDim]
    std::span<float>
        logSumExp;  ///< [tokens, heads], natural logarithm of the softmax denominator of scaled scores
};

/// Writes out and logSumExp for every query that a block covers, and nothing else.
///
/// precision     fp32, exponential accurate to 2e-7; online softmax over tiles of 128 queries x 64 keys
/// work          4 * heads * headDim * attentionPairs FLOPs; tiles that the mask empties are skipped
/// determinism   a query's result depends only on its own piece and on `prefix` and the query's place in its
/// slice source        FlashAttention-2 (Dao 2023), section 3.1, with queries in the vector lanes
void attentionForward(const AttentionShape& shape, std::span<const AttentionBlock> blocks,
                      const AttentionInputs& inputs, const AttentionOutputs& outputs, Scratch& scratch);

/// The same as AttentionOutputs, read only, and the gradient of out.
struct AttentionBackwardInputs {
    std::span<const float> out;          ///< [tokens, heads, headDim]
    std::span<const float> logSumExp;    ///< [tokens, heads]
    std::span<const float> outGradient;  ///< [tokens, heads, headDim]
};

struct AttentionGradients {
    std::span<float> q;  ///< [tokens, heads, headDim], overwritten in the rows that blocks cover
    std::span<float> k;  ///< [kvTokens, kvHeads, headDim], ADDED to
    std::span<float> v;  ///< [kvTokens, kvHeads, headDim], ADDED to
};

/// Gradients of attentionForward; the probabilities are computed again from logSumExp.
///
/// work     10 * heads * headDim * attentionPairs FLOPs
/// source   FlashAttention-2 (Dao 2023), section 3.1
void attentionBackward(const AttentionShape& shape, std::span<const AttentionBlock> blocks,
                       const AttentionInputs& inputs, const AttentionBackwardInputs& outputs,
                       const AttentionGradients& gradients, Scratch& scratch);

}  // namespace ballast::kernels
