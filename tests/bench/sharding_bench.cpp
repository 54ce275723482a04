// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/sharding/sharder.h"
#include "core/sharding/sharding_cost.h"
#include "core/workload/document_stream.h"

namespace ballast {
namespace {

constexpr std::int64_t kWindow = 131072;
constexpr int kRanks = 16;

CostModel costOf(std::string_view exchange) {
    Scenario scenario;
    scenario.layout = {8, kRanks, 1, 1};
    scenario.sharding.exchange = exchange;
    return CostModel(scenario, loadModelSpec(scenario.model), loadClusterSpec(scenario.cluster));
}

/// A window of documents of 64 to about 4,000 tokens, mean 700: none is long.
std::vector<Piece> shortDocuments() {
    std::vector<Piece> pieces;
    Random random(1);
    for (std::int64_t total = 0; total < kWindow;) {
        auto length = static_cast<std::int64_t>(64 - 636 * std::log(1 - random.uniform()));
        length = std::min(length, kWindow - total);
        auto index = static_cast<std::int64_t>(pieces.size());
        pieces.push_back({index, 0, length, 0, index});
        total += length;
    }
    return pieces;
}

/// The plain baseline: per-document token by token, each asked for its chunk.
double baselineSeconds(const std::vector<Piece>& pieces) {
    auto started = std::chrono::steady_clock::now();
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<std::vector<std::int64_t>> tokens(kRanks);
        for (const Piece& piece : pieces)
            for (std::int64_t token = 0; token < piece.length(); ++token) {
                std::int64_t chunk = token * 2 * kRanks / piece.length();
                tokens[static_cast<std::size_t>(std::min(chunk, 2 * kRanks - 1 - chunk))].push_back(token);
            }
        benchmark::DoNotOptimize(tokens);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() / kRounds;
}

/// One micro-batch of 131,072 tokens over 16 ranks.
void shard(benchmark::State& state, const char* strategy, const char* exchange) {
    CostModel cost = costOf(exchange);
    std::vector<Piece> pieces = shortDocuments();
    auto sharder = makeSharder(strategy, kRanks, cost);
    double baseline = baselineSeconds(pieces);
    auto started = std::chrono::steady_clock::now();
    for (auto _ : state)
        benchmark::DoNotOptimize(sharder->shard(pieces));
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                     static_cast<double>(state.iterations());
    state.counters["pieces"] = static_cast<double>(pieces.size());
    state.counters["of_plain_token_by_token"] = seconds / baseline;
}
BENCHMARK_CAPTURE(shard, per_sequence, "per-sequence", "all-gather")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(shard, per_document, "per-document", "all-gather")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(shard, adaptive, "adaptive", "all-gather")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(shard, mixed, "mixed", "all-gather")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(shard, mixed_need_based, "mixed", "need-based")->Unit(benchmark::kMicrosecond);

/// A step of 16,384 GPUs (tp 8, cp 16, pp 16, dp 8): 256 micro-batches of wlb-128k.
void shardStep(benchmark::State& state, const char* strategy) {
    CostModel cost = costOf("all-gather");
    LengthsOptions lengths;
    std::unique_ptr<LengthSource> source = openLengthSource(lengths.source, 1);
    DocumentStream stream(*source, lengths, 1);
    std::vector<std::vector<Piece>> microBatches;
    for (int i = 0; i < 256; ++i)
        microBatches.push_back(stream.next()->pieces);
    auto sharder = makeSharder(strategy, kRanks, cost);
    for (auto _ : state)
        for (const std::vector<Piece>& pieces : microBatches)
            benchmark::DoNotOptimize(sharder->shard(pieces));
}
BENCHMARK_CAPTURE(shardStep, per_sequence, "per-sequence")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shardStep, per_document, "per-document")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shardStep, adaptive, "adaptive")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ballast
