// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/attention_loops.h"
#include "kernels/cpu/attention_tiles.h"

namespace ballast::kernels {

template <int kWidth>
struct ForwardState {
    std::int64_t pitch, keysRows;
    float *keys, *values;          // [keysRows, pitch], zeros beyond the piece and beyond headDim
    float *queries, *sums;         // [pitch, kQueryTile]: queries in the lanes
    float* scores;                 // [kKeyTile, lanes]
    float *maximum, *denominator;  // [kQueryTile]
};

/// Scores of one key tile against one group of lanes, their softmax joined to what earlier tiles left, and
/// the weighted sum of values.
template <int kWidth>
[[gnu::always_inline]] inline void forwardTile(const ForwardState<kWidth>& state, std::int64_t headDim,
                                               const TilePlace& place) {
    using L = Lanes<kWidth>;
    using Float = typename L::Float;
    constexpr std::int64_t kLanes = std::int64_t{2} * kWidth;
    const std::int64_t rows = place.rows;
    const float* queries = state.queries + place.lane;
    productOverRows<kWidth, false, true>({state.keys + place.key * state.pitch, state.pitch}, rows, queries,
                                         kQueryTile, headDim, state.scores, kLanes, nullptr);
    if (place.masked) {
        maskScores<kWidth>(state.scores, rows, place.key - place.lastKeyOfLane0, -__builtin_inff());
    }
    float rescale[kLanes];
    for (std::int64_t v = 0; v < 2; ++v) {
        float* scores = state.scores + v * kWidth;
        const Float before = L::load(state.maximum + place.lane + v * kWidth);
        Float most0 = before;
        Float most1 = before;
        for (std::int64_t row = 0; row + 1 < rows; row += 2) {
            most0 = L::larger(most0, L::load(scores + row * kLanes));
            most1 = L::larger(most1, L::load(scores + (row + 1) * kLanes));
        }
        const Float most = L::larger(most0, most1);
        Float total0{};
        Float total1{};
        for (std::int64_t row = 0; row + 1 < rows; row += 2) {
            const Float weight0 = L::exp2(L::load(scores + row * kLanes) - most);
            const Float weight1 = L::exp2(L::load(scores + (row + 1) * kLanes) - most);
            L::store(scores + row * kLanes, weight0);
            L::store(scores + (row + 1) * kLanes, weight1);
            total0 += weight0;
            total1 += weight1;
        }
        const Float scale = L::exp2(before - most);
        L::store(rescale + v * kWidth, scale);
        L::store(state.maximum + place.lane + v * kWidth, most);
        float* denominator = state.denominator + place.lane + v * kWidth;
        L::store(denominator, L::load(denominator) * scale + total0 + total1);
    }
    productOverRows<kWidth, true, false>({state.values + place.key * state.pitch, state.pitch},
                                         roundUpTo(headDim, kTileRows<kWidth>), state.scores, kLanes, rows,
                                         state.sums + place.lane, kQueryTile, rescale);
}

/// One tile of queries of one head: all keys that they attend to, then out and logSumExp.
template <int kWidth>
inline void forwardQueries(const AttentionTask& task, const ForwardState<kWidth>& state, std::int64_t head,
                           std::int64_t first, std::int64_t count) {
    constexpr float kLog2E = 1.44269504F;
    const AttentionShape& shape = task.shape;
    const std::int64_t rowStride = shape.heads * shape.headDim;
    const std::int64_t offset = (task.block.queryOffset + first) * rowStride + head * shape.headDim;
    packLanes<kWidth>(task.q + offset, rowStride, count, shape.headDim, shape.scale * kLog2E, state.queries);
    clearLanes<kWidth>(state.sums, count, state.pitch);
    for (std::int64_t i = 0; i < paddedLanes(count); ++i) {
        state.maximum[i] = -__builtin_inff();
        state.denominator[i] = 0.0F;
    }
    forEachTile<kWidth>(task.block.prefix + first, count,
                        [&](const TilePlace& place) { forwardTile<kWidth>(state, shape.headDim, place); });

    float inverse[kQueryTile];
    for (std::int64_t i = 0; i < count; ++i) {
        inverse[i] = 1.0F / state.denominator[i];
        task.logSumExp[(task.block.queryOffset + first + i) * shape.heads + head] =
            state.maximum[i] / kLog2E + __builtin_logf(state.denominator[i]);
    }
    unpackLanes<kWidth>(state.sums, count, shape.headDim, inverse, task.out + offset, rowStride);
}

template <int kWidth>
void attentionForwardLoop(const AttentionTask& task) {
    const AttentionShape& shape = task.shape;
    const std::int64_t keys = task.block.prefix + task.block.queries;
    ForwardState<kWidth> state{};
    state.pitch = attentionPitch(shape.headDim);
    state.keysRows = paddedKeys(keys);
    const std::int64_t keyFloats = state.keysRows * state.pitch;
    const std::int64_t queryFloats = state.pitch * kQueryTile;
    state.keys = task.scratch;
    state.values = state.keys + keyFloats;
    state.queries = state.values + keyFloats;
    state.sums = state.queries + queryFloats;
    state.scores = state.sums + queryFloats;
    state.maximum = state.scores + kKeyTile * kMostLanes;
    state.denominator = state.maximum + kQueryTile;

    const std::int64_t group = shape.heads / shape.kvHeads;
    const std::int64_t keyStride = shape.kvHeads * shape.headDim;
    for (std::int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
        const std::int64_t from = task.block.keyOffset * keyStride + kvHead * shape.headDim;
        packRows<kWidth>(task.k + from, keyStride, keys, shape.headDim, 1.0F, state.keys, state.keysRows,
                         state.pitch);
        packRows<kWidth>(task.v + from, keyStride, keys, shape.headDim, 1.0F, state.values, state.keysRows,
                         state.pitch);
        for (std::int64_t head = kvHead * group; head < (kvHead + 1) * group; ++head) {
            for (std::int64_t first = 0; first < task.block.queries; first += kQueryTile) {
                const std::int64_t left = task.block.queries - first;
                forwardQueries<kWidth>(task, state, head, first, left < kQueryTile ? left : kQueryTile);
            }
        }
    }
}

}  // namespace ballast::kernels
