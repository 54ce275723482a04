// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/attention_loops.h"
#include "kernels/cpu/attention_tiles.h"

namespace ballast::kernels {

template <int kWidth>
struct BackwardState {
    std::int64_t pitch, keysRows;
    float *keys, *values, *keyGradients, *valueGradients;  // [keysRows, pitch]
    float *queries, *outGradients, *queryGradients;        // [pitch, kQueryTile]: queries in the lanes
    float *queryRows, *outGradientRows;                    // [kQueryTile, pitch]
    float *weights, *pulls;                                // [kKeyTile, lanes]: P and dS
    float *logSumExp2, *dots;  // [kQueryTile]: log2 of the denominator; sum of out * dOut
};

/// C[rows, pitch] += A B with A(row, lane) from a tile of [rows, lanes] and B [lanes, pitch].
template <int kWidth>
[[gnu::always_inline]] inline void addToRows(const float* tile, std::int64_t rows, const float* b,
                                             std::int64_t pitch, float* c) {
    constexpr std::int64_t kLanes = std::int64_t{2} * kWidth;
    constexpr int kRows = kTileRows<kWidth>;
    for (std::int64_t row = 0; row < rows; row += kRows) {
        const TileOperand part{tile + row * kLanes, kLanes};
        std::int64_t column = 0;
        for (; column + kLanes <= pitch; column += kLanes) {
            tileProduct<kWidth, kRows, 2, false, false>(part, b + column, pitch, kLanes,
                                                        c + row * pitch + column, pitch, nullptr);
        }
        for (; column < pitch; column += kWidth) {
            tileProduct<kWidth, kRows, 1, false, false>(part, b + column, pitch, kLanes,
                                                        c + row * pitch + column, pitch, nullptr);
        }
    }
}

template <int kWidth>
[[gnu::always_inline]] inline void backwardTile(const BackwardState<kWidth>& state, std::int64_t headDim,
                                                const TilePlace& place) {
    using L = Lanes<kWidth>;
    constexpr std::int64_t kLanes = std::int64_t{2} * kWidth;
    const std::int64_t rows = place.rows;
    const std::int64_t keyFloats = place.key * state.pitch;
    productOverRows<kWidth, false, true>({state.keys + keyFloats, state.pitch}, rows,
                                         state.queries + place.lane, kQueryTile, headDim, state.weights,
                                         kLanes, nullptr);
    productOverRows<kWidth, false, true>({state.values + keyFloats, state.pitch}, rows,
                                         state.outGradients + place.lane, kQueryTile, headDim, state.pulls,
                                         kLanes, nullptr);
    if (place.masked) {
        maskScores<kWidth>(state.weights, rows, place.key - place.lastKeyOfLane0, -__builtin_inff());
    }
    for (std::int64_t v = 0; v < 2; ++v) {
        const typename L::Float shift = L::load(state.logSumExp2 + place.lane + v * kWidth);
        const typename L::Float dot = L::load(state.dots + place.lane + v * kWidth);
        for (std::int64_t row = 0; row < rows; ++row) {
            float* weightAt = state.weights + row * kLanes + v * kWidth;
            float* pullAt = state.pulls + row * kLanes + v * kWidth;
            const typename L::Float weight = L::exp2(L::load(weightAt) - shift);
            L::store(weightAt, weight);
            L::store(pullAt, weight * (L::load(pullAt) - dot));
        }
    }
    addToRows<kWidth>(state.weights, rows, state.outGradientRows + place.lane * state.pitch, state.pitch,
                      state.valueGradients + keyFloats);
    addToRows<kWidth>(state.pulls, rows, state.queryRows + place.lane * state.pitch, state.pitch,
                      state.keyGradients + keyFloats);
    productOverRows<kWidth, true, false>({state.keys + keyFloats, state.pitch},
                                         roundUpTo(headDim, kTileRows<kWidth>), state.pulls, kLanes, rows,
                                         state.queryGradients + place.lane, kQueryTile, nullptr);
}

/// One tile of queries of one head: adds to the packed gradients of its keys and writes that of its queries.
template <int kWidth>
inline void backwardQueries(const AttentionTask& task, const BackwardState<kWidth>& state, std::int64_t head,
                            std::int64_t first, std::int64_t count) {
    constexpr float kLog2E = 1.44269504F;
    const AttentionShape& shape = task.shape;
    const std::int64_t lanes = paddedLanes(count);
    const std::int64_t row0 = task.block.queryOffset + first;
    const std::int64_t stride = shape.heads * shape.headDim;
    const std::int64_t offset = row0 * stride + head * shape.headDim;
    packLanes<kWidth>(task.q + offset, stride, count, shape.headDim, shape.scale * kLog2E, state.queries);
    packLanes<kWidth>(task.outGradient + offset, stride, count, shape.headDim, 1.0F, state.outGradients);
    packRows<kWidth>(task.q + offset, stride, count, shape.headDim, shape.scale, state.queryRows, lanes,
                     state.pitch);
    packRows<kWidth>(task.outGradient + offset, stride, count, shape.headDim, 1.0F, state.outGradientRows,
                     lanes, state.pitch);
    clearLanes<kWidth>(state.queryGradients, count, state.pitch);
    for (std::int64_t i = 0; i < lanes; ++i) {
        float dot = 0.0F;
        if (i < count) {
            const float* out = task.outIn + offset + i * stride;
            const float* gradient = task.outGradient + offset + i * stride;
            for (std::int64_t d = 0; d < shape.headDim; ++d) {
                dot += out[d] * gradient[d];
            }
        }
        state.dots[i] = dot;
        state.logSumExp2[i] = i < count ? task.logSumExpIn[(row0 + i) * shape.heads + head] * kLog2E : 0.0F;
    }
    forEachTile<kWidth>(task.block.prefix + first, count,
                        [&](const TilePlace& place) { backwardTile<kWidth>(state, shape.headDim, place); });

    float factor[kQueryTile];
    for (float& value : factor) {
        value = shape.scale;
    }
    unpackLanes<kWidth>(state.queryGradients, count, shape.headDim, factor, task.qGradient + offset, stride);
}

template <int kWidth>
BackwardState<kWidth> backwardState(const AttentionTask& task, std::int64_t keys) {
    BackwardState<kWidth> state{};
    state.pitch = attentionPitch(task.shape.headDim);
    state.keysRows = paddedKeys(keys);
    const std::int64_t keyFloats = state.keysRows * state.pitch;
    const std::int64_t queryFloats = state.pitch * kQueryTile;
    state.keys = task.scratch;
    state.values = state.keys + keyFloats;
    state.keyGradients = state.values + keyFloats;
    state.valueGradients = state.keyGradients + keyFloats;
    state.queries = state.valueGradients + keyFloats;
    state.outGradients = state.queries + queryFloats;
    state.queryGradients = state.outGradients + queryFloats;
    state.queryRows = state.queryGradients + queryFloats;
    state.outGradientRows = state.queryRows + queryFloats;
    state.weights = state.outGradientRows + queryFloats;
    state.pulls = state.weights + kKeyTile * kMostLanes;
    state.logSumExp2 = state.pulls + kKeyTile * kMostLanes;
    state.dots = state.logSumExp2 + kQueryTile;
    return state;
}

template <int kWidth>
void attentionBackwardLoop(const AttentionTask& task) {
    const AttentionShape& shape = task.shape;
    const std::int64_t keys = task.block.prefix + task.block.queries;
    const BackwardState<kWidth> state = backwardState<kWidth>(task, keys);
    const std::int64_t group = shape.heads / shape.kvHeads;
    const std::int64_t keyStride = shape.kvHeads * shape.headDim;
    for (std::int64_t kvHead = 0; kvHead < shape.kvHeads; ++kvHead) {
        const std::int64_t from = task.block.keyOffset * keyStride + kvHead * shape.headDim;
        packRows<kWidth>(task.k + from, keyStride, keys, shape.headDim, 1.0F, state.keys, state.keysRows,
                         state.pitch);
        packRows<kWidth>(task.v + from, keyStride, keys, shape.headDim, 1.0F, state.values, state.keysRows,
                         state.pitch);
        for (std::int64_t i = 0; i < state.keysRows * state.pitch; ++i) {
            state.keyGradients[i] = 0.0F;
            state.valueGradients[i] = 0.0F;
        }
        for (std::int64_t head = kvHead * group; head < (kvHead + 1) * group; ++head) {
            for (std::int64_t first = 0; first < task.block.queries; first += kQueryTile) {
                const std::int64_t left = task.block.queries - first;
                backwardQueries<kWidth>(task, state, head, first, left < kQueryTile ? left : kQueryTile);
            }
        }
        for (std::int64_t row = 0; row < keys; ++row) {
            for (std::int64_t d = 0; d < shape.headDim; ++d) {
                task.kGradient[from + row * keyStride + d] += state.keyGradients[row * state.pitch + d];
                task.vGradient[from + row * keyStride + d] += state.valueGradients[row * state.pitch + d];
            }
        }
    }
}

}  // namespace ballast::kernels
