// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {
namespace {

/// Floats that a pass needs for a slice over `keys` keys; the loops divide it up themselves.
std::size_t scratchFloats(std::int64_t headDim, std::int64_t keys, bool backward) {
    const std::int64_t pitch = attentionPitch(headDim);
    const std::int64_t keyArrays = backward ? 4 : 2;
    const std::int64_t queryArrays = backward ? 5 : 2;
    const std::int64_t tiles = backward ? 2 : 1;
    return static_cast<std::size_t>(keyArrays * paddedKeys(keys) * pitch + queryArrays * pitch * kQueryTile +
                                    tiles * kKeyTile * kMostLanes + 2 * kQueryTile);
}

/// Checks every slice against the arrays and returns the most keys that one of them attends to.
std::int64_t checkBlocks(const AttentionShape& shape, std::span<const AttentionBlock> blocks,
                         const AttentionInputs& inputs) {
    check(shape.heads > 0 && shape.kvHeads > 0 && shape.headDim > 0 && shape.heads % shape.kvHeads == 0,
          "attention: heads a multiple of kvHeads, all positive");
    const std::int64_t queryRow = shape.heads * shape.headDim;
    const std::int64_t keyRow = shape.kvHeads * shape.headDim;
    check(std::ssize(inputs.q) % queryRow == 0 && std::ssize(inputs.k) % keyRow == 0 &&
              inputs.k.size() == inputs.v.size(),
          "attention: sizes of q, k and v");
    const std::int64_t tokens = std::ssize(inputs.q) / queryRow;
    const std::int64_t kvTokens = std::ssize(inputs.k) / keyRow;
    std::int64_t mostKeys = 0;
    for (const AttentionBlock& block : blocks) {
        check(block.queries >= 0 && block.prefix >= 0 && block.queryOffset >= 0 && block.keyOffset >= 0,
              "attention: slice with negative numbers");
        if (block.queries == 0) {
            continue;
        }
        check(block.queryOffset <= tokens - block.queries, "attention: slice beyond the queries");
        check(block.prefix <= kvTokens - block.queries &&
                  block.keyOffset <= kvTokens - block.queries - block.prefix,
              "attention: slice beyond the keys");
        mostKeys = std::max(mostKeys, block.prefix + block.queries);
    }
    return mostKeys;
}

AttentionTask taskOf(const AttentionShape& shape, const AttentionInputs& inputs) {
    AttentionTask task;
    task.shape = shape;
    task.q = inputs.q.data();
    task.k = inputs.k.data();
    task.v = inputs.v.data();
    return task;
}

}  // namespace

std::int64_t attentionPairs(std::span<const AttentionBlock> blocks) {
    std::int64_t pairs = 0;
    for (const AttentionBlock& block : blocks) {
        pairs += block.queries * block.prefix + block.queries * (block.queries + 1) / 2;
    }
    return pairs;
}

void attentionForward(const AttentionShape& shape, std::span<const AttentionBlock> blocks,
                      const AttentionInputs& inputs, const AttentionOutputs& outputs, Scratch& scratch) {
    const std::int64_t mostKeys = checkBlocks(shape, blocks, inputs);
    check(outputs.out.size() == inputs.q.size(), "attention: size of out");
    check(std::ssize(outputs.logSumExp) * shape.headDim == std::ssize(inputs.q),
          "attention: size of logSumExp");
    AttentionTask task = taskOf(shape, inputs);
    task.out = outputs.out.data();
    task.logSumExp = outputs.logSumExp.data();
    task.scratch = scratch.take(scratchFloats(shape.headDim, mostKeys, false)).data();
    for (const AttentionBlock& block : blocks) {
        if (block.queries > 0) {
            task.block = block;
            loops().attentionForward(task);
        }
    }
}

void attentionBackward(const AttentionShape& shape, std::span<const AttentionBlock> blocks,
                       const AttentionInputs& inputs, const AttentionBackwardInputs& outputs,
                       const AttentionGradients& gradients, Scratch& scratch) {
    const std::int64_t mostKeys = checkBlocks(shape, blocks, inputs);
    check(outputs.out.size() == inputs.q.size() && outputs.outGradient.size() == inputs.q.size() &&
              std::ssize(outputs.logSumExp) * shape.headDim == std::ssize(inputs.q),
          "attention: sizes of out, logSumExp and the gradient of out");
    check(gradients.q.size() == inputs.q.size() && gradients.k.size() == inputs.k.size() &&
              gradients.v.size() == inputs.v.size(),
          "attention: sizes of the gradients");
    AttentionTask task = taskOf(shape, inputs);
    task.outIn = outputs.out.data();
    task.logSumExpIn = outputs.logSumExp.data();
    task.outGradient = outputs.outGradient.data();
    task.qGradient = gradients.q.data();
    task.kGradient = gradients.k.data();
    task.vGradient = gradients.v.data();
    task.scratch = scratch.take(scratchFloats(shape.headDim, mostKeys, true)).data();
    for (const AttentionBlock& block : blocks) {
        if (block.queries > 0) {
            task.block = block;
            loops().attentionBackward(task);
        }
    }
}

}  // namespace ballast::kernels
