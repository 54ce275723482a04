// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "backend/profiler/sweep_probe.h"
#include "kernels/attention.h"

namespace ballast::backend {
namespace {

using Slices = std::vector<kernels::AttentionBlock>;

void append(Slices& slices, std::int64_t queries, std::int64_t prefix) {
    std::int64_t row = 0;
    std::int64_t key = 0;
    if (!slices.empty()) {
        const kernels::AttentionBlock& last = slices.back();
        row = last.queryOffset + last.queries;
        key = last.keyOffset + last.prefix + last.queries;
    }
    slices.push_back({row, queries, prefix, key});
}

/// Both slices of a document that a rank of `ranks` gets when it is cut into 2*ranks chunks.
void appendPair(Slices& slices, std::int64_t length, std::int64_t ranks, std::int64_t rank) {
    const std::int64_t chunks = 2 * ranks;
    for (const std::int64_t chunk : {rank, chunks - 1 - rank}) {
        const std::int64_t begin = chunk * length / chunks;
        const std::int64_t end = (chunk + 1) * length / chunks;
        if (end > begin)
            append(slices, end - begin, begin);
    }
}

/// Calls as training makes them: documents of one length, whole and cut for two ranks; a mixture, whole and
/// cut; and short calls, which tell what a call costs by itself.
std::vector<Slices> sweptCalls() {
    constexpr std::int64_t kTokens = 2048;
    std::vector<Slices> calls;
    for (const std::int64_t length : {32, 128, 512, 2048}) {
        Slices whole;
        Slices cut;
        for (std::int64_t tokens = 0; tokens < kTokens; tokens += length) {
            append(whole, length, 0);
            appendPair(cut, length, 2, (tokens / length) % 2);
        }
        calls.push_back(whole);
        calls.push_back(cut);
    }
    calls.emplace_back();
    appendPair(calls.back(), 2 * kTokens, 2, 0);
    std::mt19937 generator(7);
    // Log-normal around 500 bytes, the middle of a folder of documentation, cut at the window.
    std::lognormal_distribution<double> lengths(6.2, 1.3);
    for (const bool isCut : {false, true}) {
        calls.emplace_back();
        for (std::int64_t tokens = 0; tokens < 2 * kTokens;) {
            const std::int64_t length =
                std::clamp<std::int64_t>(std::llround(lengths(generator)), 1, 2 * kTokens);
            tokens += length;
            if (isCut)
                appendPair(calls.back(), length, 2, 0);
            else
                append(calls.back(), length, 0);
        }
    }
    for (const auto& [queries, prefix] : {std::pair{16, 0}, {128, 0}, {64, 1000}, {512, 1536}}) {
        calls.emplace_back();
        append(calls.back(), queries, prefix);
    }
    return calls;
}

struct SweptCall {
    kernels::AttentionShape shape;
    Slices slices;
    std::int64_t tokens = 0;
    std::int64_t kvTokens = 0;

    [[nodiscard]] std::int64_t queryFloats() const { return tokens * shape.heads * shape.headDim; }
    [[nodiscard]] std::int64_t keyFloats() const { return kvTokens * shape.kvHeads * shape.headDim; }
};

void callForward(const SweptCall& call, SweepMemory& memory) {
    kernels::attentionForward(
        call.shape, call.slices,
        {memory.input(call.queryFloats()), memory.input(call.keyFloats()), memory.input(call.keyFloats())},
        {memory.output(call.queryFloats()), memory.output(call.tokens * call.shape.heads)}, memory.scratch());
}

void callBackward(const SweptCall& call, SweepMemory& memory) {
    kernels::attentionBackward(
        call.shape, call.slices,
        {memory.input(call.queryFloats()), memory.input(call.keyFloats()), memory.input(call.keyFloats())},
        {memory.input(call.queryFloats()), memory.input(call.tokens * call.shape.heads),
         memory.input(call.queryFloats())},
        {memory.output(call.queryFloats()), memory.output(call.keyFloats()), memory.output(call.keyFloats())},
        memory.scratch());
}

}  // namespace

std::vector<SweepProbe> attentionProbes(const ModelSpec& model, SweepMemory& memory) {
    constexpr std::int64_t kCommonHeadDim = 64;
    std::vector<std::int64_t> headDims = {model.headDim};
    if (model.headDim != kCommonHeadDim)
        headDims.push_back(kCommonHeadDim);
    std::vector<SweepProbe> probes;
    for (const std::int64_t headDim : headDims) {
        for (const Slices& slices : sweptCalls()) {
            const auto call = std::make_shared<SweptCall>();
            call->shape = {model.heads, model.kvHeads, headDim,
                           1.0F / std::sqrt(static_cast<float>(headDim))};
            call->slices = slices;
            call->tokens = slices.back().queryOffset + slices.back().queries;
            call->kvTokens = slices.back().keyOffset + slices.back().prefix + slices.back().queries;
            memory.reserve(std::max(call->queryFloats(), call->keyFloats()));
            AttentionSample sample;
            sample.headDim = headDim;
            sample.heads = model.heads;
            for (const kernels::AttentionBlock& slice : slices)
                sample.count += countTiles({slice.queries, slice.prefix});
            for (const Direction direction : {Direction::Forward, Direction::Backward}) {
                sample.direction = direction;
                auto* const run = direction == Direction::Forward ? &callForward : &callBackward;
                probes.push_back({[call, run, &memory] { run(*call, memory); },
                                  [sample](CalibrationSamples& samples, Seconds time) {
                                      samples.attention.push_back(sample);
                                      samples.attention.back().time = time;
                                  }});
            }
        }
    }
    return probes;
}

}  // namespace ballast::backend
