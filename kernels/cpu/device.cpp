// SPDX-License-Identifier: Apache-2.0
#include "kernels/device.h"

#include <cblas.h>

#include <algorithm>
#include <fstream>

#include "kernels/cpu/blas_setup.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void useOneThread() {
    setUpBlas();
}

int blasThreads() {
    return openblas_get_num_threads();
}

std::string processorName() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    std::string line;
    while (std::getline(cpuinfo, line)) {
        const std::size_t colon = line.find(':');
        if (line.starts_with("model name") && colon != std::string::npos && colon + 2 < line.size()) {
            return line.substr(colon + 2);
        }
    }
    return "unknown processor";
}

std::string deviceDescription() {
    return processorName() + ", " + loops().name + " loops, OpenBLAS for " + openblas_get_corename();
}

std::span<float> Scratch::take(std::size_t count) {
    constexpr std::size_t kAlignment = 64 / sizeof(float);
    if (memory_.size() < count + kAlignment) {
        // Freed first: the old contents mean nothing, and both at once would double the peak.
        std::vector<float>().swap(memory_);
        memory_.resize(count + kAlignment);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(float);
    const std::size_t skip = (kAlignment - address % kAlignment) % kAlignment;
    return std::span(memory_).subspan(skip, count);
}

void Scratch::fill(float value) {
    std::ranges::fill(memory_, value);
}

}  // namespace ballast::kernels
