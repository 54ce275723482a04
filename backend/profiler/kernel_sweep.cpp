// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/kernel_sweep.h"

#include <algorithm>
#include <random>
#include <utility>

#include "backend/profiler/clock.h"
#include "backend/profiler/sweep_probe.h"
#include "core/base/check.h"
#include "kernels/device.h"

namespace ballast::backend {
namespace {

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// CPU seconds of one call; short ones are timed several at a time, so that reading the clock does not count.
double timedCall(const SweepProbe& probe) {
    constexpr Nanoseconds kLongEnough = 50'000;
    constexpr int kMostCalls = 64;
    const Nanoseconds begin = RankClock::threadCpuTime();
    Nanoseconds spent = 0;
    int calls = 0;
    while (calls < kMostCalls && spent < kLongEnough) {
        probe.call();
        ++calls;
        spent = RankClock::threadCpuTime() - begin;
    }
    return toSeconds(spent).value() / calls;
}

}  // namespace

SweepMemory::SweepMemory() {
    // Four times the second-level cache of current server processors.
    constexpr std::size_t kFloats = (std::size_t{8} << 20U) / sizeof(float);
    input_.resize(kFloats);
    output_.resize(kFloats);
    std::mt19937_64 generator(1);
    std::normal_distribution<float> normal;
    std::ranges::generate(input_, [&] { return normal(generator); });
    output_ = input_;
}

void SweepMemory::reserve(std::int64_t count) {
    for (std::vector<float>* memory : {&input_, &output_})
        while (memory->size() < static_cast<std::size_t>(count)) {
            const std::size_t half = memory->size();
            memory->resize(2 * half);
            std::copy_n(memory->begin(), half, memory->begin() + static_cast<std::ptrdiff_t>(half));
        }
}

std::size_t SweepMemory::wander(const std::vector<float>& memory, std::size_t& at, std::int64_t count) {
    const auto needed = static_cast<std::size_t>(count);
    BALLAST_CHECK(needed <= memory.size());
    if (at + needed > memory.size())
        at = 0;
    // The next window begins on a cache line of its own.
    constexpr std::size_t kLine = 16;
    return std::exchange(at, at + (needed + kLine - 1) / kLine * kLine);
}

std::span<const float> SweepMemory::input(std::int64_t count) {
    const std::size_t begin = wander(input_, inputAt_, count);
    return std::span<const float>(input_).subspan(begin, static_cast<std::size_t>(count));
}

std::span<float> SweepMemory::output(std::int64_t count) {
    const std::size_t begin = wander(output_, outputAt_, count);
    return std::span<float>(output_).subspan(begin, static_cast<std::size_t>(count));
}

SweepResult sweepKernels(const SweepOptions& options) {
    kernels::useOneThread();
    SweepMemory memory;
    std::vector<SweepProbe> probes = attentionProbes(options.model, memory);
    for (auto* more : {&gemmProbes, &memoryProbes})
        for (SweepProbe& probe : (*more)(options.model, memory))
            probes.push_back(std::move(probe));
    // The first calls grow scratch memory and touch new pages.
    for (const SweepProbe& probe : probes)
        probe.call();

    const Nanoseconds begin = RankClock::monotonic();
    const auto elapsed = [&] { return toSeconds(RankClock::monotonic() - begin).value(); };
    std::vector<std::vector<double>> times(probes.size());
    std::vector<double> rounds;
    bool stop = false;
    while (!stop) {
        double round = 0;
        for (std::size_t i = 0; i < probes.size(); ++i) {
            if (!rounds.empty() && elapsed() >= options.seconds) {
                stop = true;
                break;
            }
            times[i].push_back(timedCall(probes[i]));
            round += times[i].back();
            if (options.progress)
                options.progress(std::min(1.0, elapsed() / options.seconds));
        }
        if (!stop)
            rounds.push_back(round);
        stop = stop || elapsed() >= options.seconds;
    }

    SweepResult result;
    result.rounds = static_cast<int>(rounds.size());
    result.driftPercent = 100 * (*std::ranges::max_element(rounds) / *std::ranges::min_element(rounds) - 1);
    result.samples.kernel = "Ballast CPU attention, fp32, causal inside documents, tiles of 128 x 64";
    for (std::size_t i = 0; i < probes.size(); ++i)
        probes[i].report(result.samples, Seconds(median(times[i])));
    return result;
}

}  // namespace ballast::backend
