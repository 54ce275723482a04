// SPDX-License-Identifier: Apache-2.0
// ballast-calibrate: measures this machine into a cluster file, or checks that what the trainer needs works.
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backend/profiler/kernel_sweep.h"
#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/job/cluster_spec.h"
#include "core/job/model_spec.h"
#include "kernels/device.h"
#include "kernels/matmul.h"

namespace ballast::backend {
namespace {

constexpr std::string_view kUsage =
    "usage: ballast-calibrate --this-machine [--seconds N] [--out FILE]\n"
    "       ballast-calibrate --check\n"
    "\n"
    "--this-machine   times the trainer's kernels and writes the cluster file \"this-machine\"\n"
    "--seconds N      time to spend, 1 to 3600 (default 20)\n"
    "--out FILE       another place for the file\n"
    "--check          one matrix product against a plain loop, and the MPI library, as one line of JSON\n";

struct Arguments {
    bool thisMachine = false;
    bool check = false;
    bool help = false;
    double seconds = 20;
    std::optional<std::filesystem::path> out;
};

double parseSeconds(const std::string& text) {
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(seconds >= 1) || !(seconds <= 3600))
        throw Error(fmt::format("--seconds: expected a number from 1 to 3600, found \"{}\"", text));
    return seconds;
}

Arguments parseArguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto value = [&]() -> const std::string& {
            if (i + 1 >= words.size())
                throw Error(fmt::format("{}: expected a value", word));
            return words[++i];
        };
        if (word == "--this-machine")
            arguments.thisMachine = true;
        else if (word == "--check")
            arguments.check = true;
        else if (word == "--help" || word == "-h")
            arguments.help = true;
        else if (word == "--seconds")
            arguments.seconds = parseSeconds(value());
        else if (word == "--out")
            arguments.out = value();
        else
            throw Error(fmt::format("unknown argument \"{}\"; try --help", word));
    }
    if (!arguments.help && arguments.thisMachine == arguments.check)
        throw Error("expected one of --this-machine and --check; try --help");
    return arguments;
}

/// Memory that this process may use: the machine's, or its control group's where that is less.
double memoryGiB() {
    const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
    double bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
    double limit = 0;
    if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0 && limit < bytes)
        bytes = limit;
    return bytes / (1 << 30);
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm date{};
    gmtime_r(&now, &date);
    char text[16];
    std::strftime(text, sizeof(text), "%Y-%m-%d", &date);
    return text;
}

/// A bar on a terminal, a line every tenth elsewhere.
class Progress {
  public:
    void operator()(double fraction) {
        const int percent = static_cast<int>(100 * fraction);
        const int step = terminal_ ? 1 : 10;
        if (percent / step == shown_ / step)
            return;
        shown_ = percent;
        if (terminal_) {
            constexpr int kWidth = 40;
            const auto full = static_cast<std::size_t>(fraction * kWidth);
            fmt::print(stderr, "\rmeasuring this machine [{}{}] {:3} %", std::string(full, '#'),
                       std::string(kWidth - full, ' '), percent);
        } else {
            fmt::print(stderr, "measuring this machine: {} %\n", percent);
        }
        std::fflush(stderr);
    }
    void end() const {
        if (terminal_)
            fmt::print(stderr, "\n");
    }

  private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    int shown_ = -1;
};

int calibrate(const Arguments& arguments) {
    const std::filesystem::path file = arguments.out.value_or(thisMachinePath());
    if (file.has_parent_path()) {
        std::error_code failure;
        std::filesystem::create_directories(file.parent_path(), failure);
        if (failure)
            throw Error(fmt::format("{}: cannot make this folder: {}", file.parent_path().string(),
                                    failure.message()),
                        ErrorCode::WorkFailed);
    }
    Progress progress;
    const SweepResult sweep = sweepKernels({arguments.seconds, loadModelSpec("demo"), std::ref(progress)});
    progress.end();

    ClusterSpec cluster = calibratedCluster(sweep.samples);
    cluster.name = "this-machine";
    cluster.measured = today();
    cluster.source = fmt::format(
        "measured by ballast-calibrate --this-machine in {} rounds on one thread, CPU time; slowest round "
        "{:.0f} % over "
        "the fastest; {}; link: memory copy, latency assumed; hbm_gbps: element-wise kernels of a step, "
        "bytes as the "
        "cost model counts them",
        sweep.rounds, sweep.driftPercent, kernels::deviceDescription());
    // All ranks run on this one machine, however many they are.
    constexpr int kEveryRank = 65536;
    cluster.gpusPerNode = kEveryRank;
    cluster.memoryGiB = memoryGiB();
    writeTextFile(file, clusterSpecJson(cluster));

    for (const AttentionCurve& curve : cluster.attention)
        fmt::print(stderr, "attention, head size {}: tile model within {:.1f} % of the measured calls\n",
                   curve.headDim, curve.errorPercent);
    fmt::print(stderr, "matrix products: up to {:.0f} GFLOP/s, a shape from its neighbours within {:.1f} %\n",
               cluster.peakTflops.at("fp32") * 1e3, cluster.gemmErrorPercent);
    fmt::print(
        stderr,
        "element-wise work {:.1f} GB/s, memory copy {:.1f} GB/s; speed varied by {:.0f} % in {} rounds\n",
        cluster.hbmGBps, cluster.links.front().bandwidthGBps, sweep.driftPercent, sweep.rounds);
    fmt::print(stderr, "wrote {}\n", file.string());
    return 0;
}

/// Largest difference of one 256^3 product to a plain loop in double, relative to the largest element.
double matmulError() {
    constexpr std::int64_t kSide = 256;
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    std::vector<float> a(kSide * kSide);
    std::vector<float> b(a.size());
    std::vector<float> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = normal(generator);
        b[i] = normal(generator);
    }
    kernels::useOneThread();
    kernels::matmul({.m = kSide, .n = kSide, .k = kSide}, a, b, c);
    double largest = 0;
    double apart = 0;
    for (std::int64_t i = 0; i < kSide; ++i)
        for (std::int64_t j = 0; j < kSide; ++j) {
            double sum = 0;
            for (std::int64_t k = 0; k < kSide; ++k)
                sum += static_cast<double>(a[i * kSide + k]) * static_cast<double>(b[k * kSide + j]);
            largest = std::max(largest, std::abs(sum));
            const double difference = std::abs(static_cast<double>(c[i * kSide + j]) - sum);
            // Written so that a NaN fails the check.
            apart = difference <= apart ? apart : difference;
        }
    return apart / largest;
}

std::string mpiLibrary() {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return {};
    const std::string_view text(version, static_cast<std::size_t>(length));
    return std::string(text.substr(0, text.find_first_of(",\n")));
}

std::string checkJson(std::string_view name, bool ok, std::string_view detail) {
    std::string escaped;
    for (const char c : detail) {
        if (c == '"' || c == '\\')
            escaped += '\\';
        if (static_cast<unsigned char>(c) >= 0x20)
            escaped += c;
    }
    return fmt::format(R"({{"name":"{}","ok":{},"detail":"{}"}})", name, ok, escaped);
}

int check() {
    constexpr double kTolerance = 1e-5;
    const double error = matmulError();
    const bool sgemm = error <= kTolerance;
    const std::string mpi = mpiLibrary();
    fmt::print(
        "{{\"checks\":[{},{}]}}\n",
        checkJson("sgemm", sgemm,
                  fmt::format("256^3 product {} a plain loop by {:.1e} of its largest element ({})",
                              sgemm ? "agrees with" : "differs from", error, kernels::deviceDescription())),
        checkJson("mpi", !mpi.empty(), mpi.empty() ? "the MPI library does not tell its version" : mpi));
    return sgemm && !mpi.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
    try {
        const Arguments arguments = parseArguments(words);
        if (arguments.help) {
            fmt::print("{}", kUsage);
            return 0;
        }
        return arguments.check ? check() : calibrate(arguments);
    } catch (const Error& error) {
        fmt::print(stderr, "ballast-calibrate: {}\n", error.what());
        return static_cast<int>(error.code());
    } catch (const std::exception& error) {
        fmt::print(stderr, "ballast-calibrate: {}\n", error.what());
        return static_cast<int>(ErrorCode::WorkFailed);
    }
}

}  // namespace
}  // namespace ballast::backend

int main(int argc, char** argv) {
    return ballast::backend::run({argv + 1, argv + argc});
}
