// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/rms_norm.h"
#include "kernels/swiglu.h"

namespace ballast::kernels {
namespace {

std::vector<float> values(std::int64_t count) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::vector<float> all(static_cast<std::size_t>(count));
    for (float& value : all) {
        value = normal(generator);
    }
    return all;
}

void report(benchmark::State& state, double flops) {
    state.counters["GFLOPs"] = benchmark::Counter(flops * 1e-9 * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate);
}

/// The yardstick: the machine's own matrix product on one thread.
void sgemm(benchmark::State& state) {
    useOneThread();
    const std::int64_t m = state.range(0);
    const std::int64_t n = state.range(1);
    const std::int64_t k = state.range(2);
    const std::vector<float> a = values(m * k);
    const std::vector<float> b = values(k * n);
    std::vector<float> c(static_cast<std::size_t>(m * n));
    for (auto _ : state) {
        matmul({.m = m, .n = n, .k = k, .transposeB = true}, a, b, c);
        benchmark::DoNotOptimize(c.data());
    }
    report(state, 2.0 * static_cast<double>(m * n * k));
}
BENCHMARK(sgemm)
    ->Args({1024, 1024, 1024})
    ->Args({2048, 128, 128})
    ->Args({2048, 352, 128})
    ->Args({2048, 128, 352});

struct Documents {
    AttentionShape shape{4, 2, 32, 1.0F};
    std::vector<AttentionBlock> blocks;
    std::vector<float> q, k, v, out, logSumExp, qGradient, kGradient, vGradient;

    Documents(std::int64_t length, std::int64_t headDim) {
        useOneThread();
        constexpr std::int64_t kTokens = 4096;
        shape.headDim = headDim;
        shape.scale = 1.0F / std::sqrt(static_cast<float>(headDim));
        for (std::int64_t begin = 0; begin + length <= kTokens; begin += length) {
            blocks.push_back({begin, length, 0, begin});
        }
        q = values(kTokens * shape.heads * headDim);
        k = values(kTokens * shape.kvHeads * headDim);
        v = k;
        out = q;
        logSumExp.resize(q.size() / static_cast<std::size_t>(headDim));
        qGradient = q;
        kGradient = k;
        vGradient = k;
    }
    [[nodiscard]] double flops(double perPair) const {
        return perPair * static_cast<double>(shape.heads * shape.headDim * attentionPairs(blocks));
    }
};

void attentionForwardOf(benchmark::State& state) {
    Documents documents(state.range(0), state.range(1));
    Scratch scratch;
    for (auto _ : state) {
        attentionForward(documents.shape, documents.blocks, {documents.q, documents.k, documents.v},
                         {documents.out, documents.logSumExp}, scratch);
        benchmark::DoNotOptimize(documents.out.data());
    }
    report(state, documents.flops(4));
}
BENCHMARK(attentionForwardOf)->ArgsProduct({{16, 64, 256, 1024, 2048, 4096}, {32, 64, 128}});

void attentionBackwardOf(benchmark::State& state) {
    Documents documents(state.range(0), state.range(1));
    Scratch scratch;
    attentionForward(documents.shape, documents.blocks, {documents.q, documents.k, documents.v},
                     {documents.out, documents.logSumExp}, scratch);
    for (auto _ : state) {
        attentionBackward(documents.shape, documents.blocks, {documents.q, documents.k, documents.v},
                          {documents.out, documents.logSumExp, documents.q},
                          {documents.qGradient, documents.kGradient, documents.vGradient}, scratch);
        benchmark::DoNotOptimize(documents.qGradient.data());
    }
    report(state, documents.flops(10));
}
BENCHMARK(attentionBackwardOf)->ArgsProduct({{16, 64, 256, 1024, 2048, 4096}, {32, 64, 128}});

void swiglu(benchmark::State& state) {
    std::vector<float> gate = values(1 << 18);
    std::vector<float> out = gate;
    for (auto _ : state) {
        swigluForward(gate, gate, out);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetBytesProcessed(state.iterations() * std::ssize(gate) * 12);
}
BENCHMARK(swiglu);

void rmsNorm(benchmark::State& state) {
    const RmsNormShape shape{2048, 128, 1e-5F};
    const std::vector<float> in = values(shape.tokens * shape.width);
    const std::vector<float> weight = values(shape.width);
    std::vector<float> out = in;
    std::vector<float> inverseRms(static_cast<std::size_t>(shape.tokens));
    for (auto _ : state) {
        rmsNormForward(shape, in, weight, out, inverseRms);
        benchmark::DoNotOptimize(out.data());
    }
    state.SetBytesProcessed(state.iterations() * std::ssize(in) * 8);
}
BENCHMARK(rmsNorm);

void adamw(benchmark::State& state) {
    std::vector<float> weights = values(1 << 20);
    std::vector<float> first(weights.size());
    std::vector<float> second(weights.size());
    const std::vector<float> gradients = weights;
    for (auto _ : state) {
        adamwStep({.rate = 1e-3, .step = 10}, gradients, {weights, first, second});
        benchmark::DoNotOptimize(weights.data());
    }
    state.SetBytesProcessed(state.iterations() * std::ssize(weights) * 28);
}
BENCHMARK(adamw);

}  // namespace
}  // namespace ballast::kernels
