// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <ctime>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/packing/packer.h"

namespace ballast {
namespace {

/// WLB-LLM (OSDI 2025), Table 2: two queues take 20 ms a global batch of four windows of 128K.
constexpr double kPaperMilliseconds = 20;
constexpr std::int64_t kMicroBatches = 400;  // over all batches, so that a wide job costs no more

/// The published case: wlb-128k, window 131072, dp * micro_batches = N.
struct Published {
    explicit Published(const char* strategy, int microBatches, bool quadratic = true) {
        scenario.layout = {8, 2, 1, 4};
        scenario.microBatches = microBatches;
        scenario.packing.strategy = strategy;
        scenario.packing.thresholds = std::vector<std::int64_t>{32768, 98304};
        scenario.packing.maxTokens = 163840;
        if (quadratic)
            scenario.cost = {"quadratic", 46000};
        cost = std::make_unique<CostModel>(scenario, loadModelSpec(scenario.model),
                                           loadClusterSpec(scenario.cluster));
        std::unique_ptr<LengthSource> source = openLengthSource(scenario.lengths.source, 1);
        DocumentStream stream(*source, scenario.lengths, microBatches);
        for (std::int64_t taken = 0; taken < kMicroBatches; taken += microBatches)
            batches.push_back(*stream.next());
    }

    std::unique_ptr<Packer> packer() const {
        return makePacker({scenario, *cost, {*scenario.packing.thresholds, *scenario.packing.maxTokens}});
    }

    Scenario scenario;
    std::unique_ptr<CostModel> cost;
    std::vector<GlobalBatch> batches;
};

void packSteps(benchmark::State& state, const Published& published) {
    double pieces = 0;
    double steps = 0;
    std::clock_t started = std::clock();
    for (auto _ : state) {
        std::unique_ptr<Packer> packer = published.packer();
        for (const GlobalBatch& batch : published.batches) {
            benchmark::DoNotOptimize(packer->pack(batch));
            pieces += static_cast<double>(batch.pieces.size());
            ++steps;
        }
    }
    double milliseconds = 1e3 * static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
    state.counters["pieces_per_step"] = pieces / steps;
    state.counters["ms_per_step"] = milliseconds / steps;
    state.counters["of_papers_20ms"] = milliseconds / steps / kPaperMilliseconds;
}

void pack(benchmark::State& state, const char* strategy, bool quadratic) {
    packSteps(state, Published(strategy, static_cast<int>(state.range(0)), quadratic));
}
BENCHMARK_CAPTURE(pack, sequential, "sequential", true)->Arg(4)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pack, greedy, "greedy", true)->Arg(4)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pack, wlb, "wlb", true)->Arg(4)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(pack, wlb_tile_cost, "wlb", false)->Arg(4)->Arg(256)->Unit(benchmark::kMillisecond);

/// What a scenario waits for before its first step: every choice of two thresholds over 200 batches.
void tuneThresholds(benchmark::State& state) {
    Published published("wlb", 4);
    published.scenario.packing.thresholds.reset();
    std::unique_ptr<LengthSource> source = openLengthSource(published.scenario.lengths.source, 1);
    for (auto _ : state)
        benchmark::DoNotOptimize(choosePackingConstants(published.scenario, *published.cost, *source));
}
BENCHMARK(tuneThresholds)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ballast
