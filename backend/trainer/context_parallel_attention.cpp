// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/context_parallel_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention.h"

namespace ballast::backend {

namespace {

kernels::AttentionShape kernelShape(const RankShape& shape) {
    return {shape.heads, shape.kvHeads, shape.headDim,
            static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.headDim)))};
}

/// Numbers of keys and values together that each cp rank owns.
std::vector<std::int64_t> keyValueCounts(const MicroBatchInput& input, std::int64_t width) {
    std::vector<std::int64_t> counts;
    for (std::int64_t tokens : input.rankTokens)
        counts.push_back(tokens * 2 * width);
    return counts;
}

/// Calls take(offset by rank, offset in packed order, numbers) for every run of rows that lies together in
/// both, keys and values.
template <class Take>
void forEachRun(const MicroBatchInput& input, std::int64_t width, const Take& take) {
    std::int64_t rankStart = 0;
    for (std::size_t rank = 0; rank < input.copies.size(); ++rank) {
        for (std::int64_t part = 0; part < 2; ++part) {  // keys, values
            const std::int64_t rankPart = rankStart + part * input.rankTokens[rank] * width;
            const std::int64_t packedPart = part * input.tokens * width;
            for (const RowCopy& copy : input.copies[rank])
                take(static_cast<std::size_t>(rankPart + copy.localRow * width),
                     static_cast<std::size_t>(packedPart + copy.packedRow * width),
                     static_cast<std::size_t>(copy.rows * width));
        }
        rankStart += 2 * input.rankTokens[rank] * width;
    }
}

}  // namespace

ContextParallelAttention::ContextParallelAttention(const RankContext& context, const RankShape& shape,
                                                   const MicroBatchInput& input, int layer)
    : context_(&context), shape_(&shape), input_(&input), layer_(layer) {}

SpanLabel ContextParallelAttention::label(double flopsPerPair) const {
    const double pairs = static_cast<double>(kernels::attentionPairs(input_->blocks));
    const double width = static_cast<double>(shape_->queryWidth());
    return {input_->index, layer_, input_->localTokens, flopsPerPair * width * pairs,
            input_->heaviestDocument};
}

void ContextParallelAttention::gather(const CollectiveCall& call, std::span<const float> localKeyValues) {
    const std::int64_t width = shape_->keyWidth();
    gathered_ = context_->arena.take(MemoryClass::GatheredKeyValues, input_->tokens * 2 * width);
    runCollective(*context_, call, label(0), [&](Communicator& group) {
        group.allGather(localKeyValues, keyValueCounts(*input_, width), gathered_.numbers());
    });
}

void ContextParallelAttention::pack(std::span<const float> byRank, std::span<float> packed) const {
    forEachRun(*input_, shape_->keyWidth(),
               [&](std::size_t rankOffset, std::size_t packedOffset, std::size_t count) {
                   std::copy_n(byRank.data() + rankOffset, count, packed.data() + packedOffset);
               });
}

void ContextParallelAttention::unpack(std::span<const float> packed, std::span<float> byRank) const {
    forEachRun(*input_, shape_->keyWidth(),
               [&](std::size_t rankOffset, std::size_t packedOffset, std::size_t count) {
                   std::copy_n(packed.data() + packedOffset, count, byRank.data() + rankOffset);
               });
}

std::span<const float> ContextParallelAttention::packedKeyValues(std::span<const float> localKeyValues) {
    if (input_->localIsPacked)
        return localKeyValues;
    const std::int64_t count = input_->tokens * 2 * shape_->keyWidth();
    packed_ = context_->arena.take(MemoryClass::GatheredKeyValues, count);
    pack(input_->copies.size() == 1 ? localKeyValues : gathered_, packed_);
    gathered_ = Buffer();
    return packed_;
}

void ContextParallelAttention::forward(std::span<const float> queries, std::span<const float> localKeyValues,
                                       std::span<float> out, std::span<float> logSumExp) {
    if (input_->localTokens == 0)
        return;
    ComputeScope scope(context_->spans, SpanKind::AttentionForward, label(4));
    std::span<const float> packed = packedKeyValues(localKeyValues);
    const std::size_t half = packed.size() / 2;
    kernels::attentionForward(kernelShape(*shape_), input_->blocks,
                              {queries, packed.subspan(0, half), packed.subspan(half)}, {out, logSumExp},
                              context_->scratch);
    packed_ = Buffer();
}

void ContextParallelAttention::backward(const Saved& saved, std::span<float> queryGradient,
                                        std::span<float> localGradient) {
    const bool scattered = input_->copies.size() > 1;
    const std::int64_t count = input_->tokens * 2 * shape_->keyWidth();
    if (input_->localTokens == 0) {
        // Nothing attends from here; the other ranks still expect this rank's share of the sum.
        gathered_ = context_->arena.takeZeros(MemoryClass::GatheredKeyValues, count);
        return;
    }
    ComputeScope scope(context_->spans, SpanKind::AttentionBackward, label(10));
    std::span<const float> packed = packedKeyValues(saved.localKeyValues);
    Buffer gradient;
    std::span<float> packedGradient = localGradient;
    if (input_->localIsPacked) {
        std::memset(localGradient.data(), 0, localGradient.size_bytes());
    } else {
        gradient = context_->arena.takeZeros(MemoryClass::GatheredKeyValues, count);
        packedGradient = gradient;
    }
    const std::size_t half = packed.size() / 2;
    kernels::attentionBackward(
        kernelShape(*shape_), input_->blocks, {saved.queries, packed.subspan(0, half), packed.subspan(half)},
        {saved.out, saved.logSumExp, saved.outGradient},
        {queryGradient, packedGradient.subspan(0, half), packedGradient.subspan(half)}, context_->scratch);
    packed_ = Buffer();
    if (scattered) {
        gathered_ = context_->arena.take(MemoryClass::GatheredKeyValues, count);
        unpack(packedGradient, gathered_);
    } else if (!input_->localIsPacked) {
        unpack(packedGradient, localGradient);
    }
}

void ContextParallelAttention::scatter(const CollectiveCall& call, std::span<float> localGradient) {
    runCollective(*context_, call, label(0), [&](Communicator& group) {
        group.reduceScatter(gathered_.numbers(), keyValueCounts(*input_, shape_->keyWidth()), localGradient);
    });
    gathered_ = Buffer();
}

}  // namespace ballast::backend
