// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/context_parallel_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
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

using RowLists = std::vector<std::vector<RowCopy>>;

std::int64_t rowsOf(const std::vector<RowCopy>& copies) {
    std::int64_t rows = 0;
    for (const RowCopy& copy : copies)
        rows += copy.rows;
    return rows;
}

/// Numbers of a message to or from each rank: keys and values of its rows.
std::vector<std::int64_t> messageCounts(const RowLists& lists, std::int64_t width) {
    std::vector<std::int64_t> counts;
    for (const std::vector<RowCopy>& copies : lists)
        counts.push_back(2 * rowsOf(copies) * width);
    return counts;
}

std::int64_t sumOf(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Calls take(offset in the message, copy, part) for the rows of a message of keys, then values.
template <class Take>
void forEachMessageRun(const std::vector<RowCopy>& copies, std::int64_t width, const Take& take) {
    std::int64_t at = 0;
    for (std::int64_t part = 0; part < 2; ++part)
        for (const RowCopy& copy : copies) {
            take(static_cast<std::size_t>(at), copy, part);
            at += copy.rows * width;
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
    if (input_->needed)
        return gatherNeeded(call, localKeyValues);
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
    if (input_->needed)
        packNeeded(localKeyValues);
    else
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
        // Nothing attends from here; the other ranks still expect this rank's share of the sum, but not where
        // they sent it nothing.
        if (!input_->needed)
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
    if (input_->needed) {
        unpackNeeded(packedGradient, localGradient);
    } else if (scattered) {
        gathered_ = context_->arena.take(MemoryClass::GatheredKeyValues, count);
        unpack(packedGradient, gathered_);
    } else if (!input_->localIsPacked) {
        unpack(packedGradient, localGradient);
    }
}

void ContextParallelAttention::scatter(const CollectiveCall& call, std::span<float> localGradient) {
    if (input_->needed)
        return scatterNeeded(call, localGradient);
    runCollective(*context_, call, label(0), [&](Communicator& group) {
        group.reduceScatter(gathered_.numbers(), keyValueCounts(*input_, shape_->keyWidth()), localGradient);
    });
    gathered_ = Buffer();
}

TimedCall ContextParallelAttention::neededCall(const CollectiveCall& call) const {
    const std::vector<std::int64_t> bytes = exchangedBytes(input_->exchanged, context_->cost);
    std::span<const int> members = context_->groups.along(call.axis).members();
    TimedCall timed{call, pairwiseExchangeSeconds(context_->cost.cluster(), members, bytes)};
    timed.call.bytes = Bytes(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}));
    return timed;
}

void ContextParallelAttention::gatherNeeded(const CollectiveCall& call,
                                            std::span<const float> localKeyValues) {
    const std::int64_t width = shape_->keyWidth();
    const std::vector<std::int64_t> outCounts = messageCounts(input_->needed->sent, width);
    const std::vector<std::int64_t> inCounts = messageCounts(input_->needed->received, width);
    Buffer out = context_->arena.take(MemoryClass::GatheredKeyValues, sumOf(outCounts));
    std::size_t start = 0;
    for (std::size_t peer = 0; peer < outCounts.size(); ++peer) {
        forEachMessageRun(
            input_->needed->sent[peer], width, [&](std::size_t at, const RowCopy& copy, std::int64_t part) {
                const std::int64_t row = part * input_->localTokens + copy.localRow;
                std::copy_n(localKeyValues.data() + row * width, copy.rows * width, out.data() + start + at);
            });
        start += static_cast<std::size_t>(outCounts[peer]);
    }
    gathered_ = context_->arena.take(MemoryClass::GatheredKeyValues, sumOf(inCounts));
    runTimedCall(*context_, neededCall(call), label(0), [&](Communicator& group) {
        group.exchange(out.numbers(), outCounts, gathered_.numbers(), inCounts);
    });
}

/// Rows that nobody here attends to stay as they are.
void ContextParallelAttention::packNeeded(std::span<const float> localKeyValues) {
    const std::int64_t width = shape_->keyWidth();
    const auto packedRow = [&](const RowCopy& copy, std::int64_t part) {
        return packed_.data() + (part * input_->tokens + copy.packedRow) * width;
    };
    const auto own = static_cast<std::size_t>(context_->groups.coordinate().cp);
    for (std::int64_t part = 0; part < 2; ++part)
        for (const RowCopy& copy : input_->copies[own])
            std::copy_n(localKeyValues.data() + (part * input_->localTokens + copy.localRow) * width,
                        copy.rows * width, packedRow(copy, part));
    std::size_t start = 0;
    for (const std::vector<RowCopy>& copies : input_->needed->received) {
        forEachMessageRun(copies, width, [&](std::size_t at, const RowCopy& copy, std::int64_t part) {
            std::copy_n(gathered_.data() + start + at, copy.rows * width, packedRow(copy, part));
        });
        start += static_cast<std::size_t>(2 * rowsOf(copies) * width);
    }
}

/// This rank's own rows to localGradient, those of others to messages in the order of their owners.
void ContextParallelAttention::unpackNeeded(std::span<const float> packedGradient,
                                            std::span<float> localGradient) {
    const std::int64_t width = shape_->keyWidth();
    const auto packedRow = [&](const RowCopy& copy, std::int64_t part) {
        return packedGradient.data() + (part * input_->tokens + copy.packedRow) * width;
    };
    const auto own = static_cast<std::size_t>(context_->groups.coordinate().cp);
    for (std::int64_t part = 0; part < 2; ++part)
        for (const RowCopy& copy : input_->copies[own])
            std::copy_n(packedRow(copy, part), copy.rows * width,
                        localGradient.data() + (part * input_->localTokens + copy.localRow) * width);
    gathered_ = context_->arena.take(MemoryClass::GatheredKeyValues,
                                     sumOf(messageCounts(input_->needed->received, width)));
    std::size_t start = 0;
    for (const std::vector<RowCopy>& copies : input_->needed->received) {
        forEachMessageRun(copies, width, [&](std::size_t at, const RowCopy& copy, std::int64_t part) {
            std::copy_n(packedRow(copy, part), copy.rows * width, gathered_.data() + start + at);
        });
        start += static_cast<std::size_t>(2 * rowsOf(copies) * width);
    }
}

void ContextParallelAttention::scatterNeeded(const CollectiveCall& call, std::span<float> localGradient) {
    const std::int64_t width = shape_->keyWidth();
    const std::vector<std::int64_t> inCounts = messageCounts(input_->needed->sent, width);
    Buffer in = context_->arena.take(MemoryClass::GatheredKeyValues, sumOf(inCounts));
    runTimedCall(*context_, neededCall(call), label(0), [&](Communicator& group) {
        group.exchange(gathered_.numbers(), messageCounts(input_->needed->received, width), in.numbers(),
                       inCounts);
    });
    gathered_ = Buffer();
    Buffer sum = context_->arena.takeZeros(MemoryClass::GatheredKeyValues, std::ssize(localGradient));
    const auto add = [&](const float* from, std::int64_t row, std::int64_t rows) {
        float* to = sum.data() + row * width;
        for (std::int64_t i = 0; i < rows * width; ++i)
            to[i] += from[i];
    };
    std::size_t start = 0;
    for (std::size_t peer = 0; peer < inCounts.size(); ++peer) {
        if (static_cast<int>(peer) == context_->groups.coordinate().cp)
            add(localGradient.data(), 0, 2 * input_->localTokens);
        forEachMessageRun(
            input_->needed->sent[peer], width, [&](std::size_t at, const RowCopy& copy, std::int64_t part) {
                add(in.data() + start + at, part * input_->localTokens + copy.localRow, copy.rows);
            });
        start += static_cast<std::size_t>(inCounts[peer]);
    }
    std::copy_n(sum.data(), localGradient.size(), localGradient.data());
}

}  // namespace ballast::backend
