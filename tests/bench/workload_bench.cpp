// SPDX-License-Identifier: Apache-2.0
// Statistics of a large .idx: seconds, and the ratio to reading the same bytes once.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/random.h"
#include "core/workload/idx_reader.h"
#include "core/workload/length_statistics.h"

namespace ballast {
namespace {

/// BALLAST_BENCH_DOCUMENTS=100000000 for the full size, a file of 2 GB in the temporary folder.
const std::int64_t kDocuments = [] {
    const char* wanted = std::getenv("BALLAST_BENCH_DOCUMENTS");
    return wanted != nullptr ? std::atoll(wanted) : 10'000'000LL;
}();

/// Mostly short documents, one sequence each; written once.
class LargeIdx {
  public:
    LargeIdx() : file_(std::filesystem::temp_directory_path() / "ballast-bench.idx") {
        std::ofstream out(file_, std::ios::binary);
        out.write(kIdxMagic.data(), static_cast<std::streamsize>(kIdxMagic.size()));
        const auto put = [&](auto value) { out.write(reinterpret_cast<const char*>(&value), sizeof value); };
        put(std::uint64_t{1});
        put(std::uint8_t{1});
        put(static_cast<std::uint64_t>(kDocuments));
        put(static_cast<std::uint64_t>(kDocuments + 1));
        writeTable<std::int32_t>(out, kDocuments, [](std::int64_t i) { return lengthOf(i); });
        std::int64_t byte = 0;
        writeTable<std::int64_t>(out, kDocuments, [&](std::int64_t i) {
            const std::int64_t begin = byte;
            byte += lengthOf(i);
            return begin;
        });
        writeTable<std::int64_t>(out, kDocuments + 1, [](std::int64_t i) { return i; });
    }
    ~LargeIdx() {
        std::error_code ignored;
        std::filesystem::remove(file_, ignored);
    }
    const std::filesystem::path& file() const { return file_; }

  private:
    static std::int32_t lengthOf(std::int64_t document) {
        const std::uint64_t mixed = static_cast<std::uint64_t>(document) * 0x9E3779B97F4A7C15ULL >> 40;
        return static_cast<std::int32_t>(mixed % 1000 == 0 ? mixed % 131072 : mixed % 1500);
    }
    template <class Number, class Value>
    static void writeTable(std::ofstream& out, std::int64_t count, Value value) {
        std::vector<Number> block;
        for (std::int64_t i = 0; i < count; ++i) {
            block.push_back(value(i));
            if (block.size() == 1 << 16 || i + 1 == count) {
                out.write(reinterpret_cast<const char*>(block.data()),
                          static_cast<std::streamsize>(block.size() * sizeof(Number)));
                block.clear();
            }
        }
    }

    std::filesystem::path file_;
};

std::int64_t anonymousKilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:"))
            return std::stoll(line.substr(8));
    return 0;
}

double secondsOf(const auto& action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void statisticsOfALargeIdx(benchmark::State& state) {
    static const LargeIdx large;
    double opening = 0;
    double statistics = 0;
    double reading = 0;
    std::int64_t kilobytes = 0;
    for (auto _ : state) {
        std::unique_ptr<IdxSource> source;
        const MappedFile plain(large.file());
        reading += secondsOf([&] {
            std::uint64_t sum = 0;
            const std::span<const std::byte> bytes = plain.bytes();
            for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
                std::uint64_t word;
                std::memcpy(&word, bytes.data() + at, 8);
                sum += word;
            }
            benchmark::DoNotOptimize(sum);
        });
        const std::int64_t before = anonymousKilobytes();
        opening += secondsOf([&] { source = std::make_unique<IdxSource>(large.file()); });
        statistics += secondsOf([&] { benchmark::DoNotOptimize(lengthStatistics(*source, 131072)); });
        kilobytes = std::max(kilobytes, anonymousKilobytes() - before);
    }
    const auto runs = static_cast<double>(state.iterations());
    state.counters["open and check s"] = opening / runs;
    state.counters["statistics s"] = statistics / runs;
    state.counters["plain read s"] = reading / runs;
    state.counters["all / plain read"] = (opening + statistics) / reading;
    state.counters["MB beyond the mapping"] = static_cast<double>(kilobytes) / 1024;
}
BENCHMARK(statisticsOfALargeIdx)->Unit(benchmark::kSecond)->Iterations(3);

}  // namespace
}  // namespace ballast
