// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/loops.h"

#include <atomic>

namespace ballast::kernels {

#if defined(__x86_64__)
extern const Loops kAvx512Loops;
extern const Loops kAvx2Loops;
#endif
extern const Loops kBaselineLoops;

LoopsList runnableLoops() {
    LoopsList list{};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0) {
        list.sets[list.count++] = &kAvx512Loops;
    }
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
        list.sets[list.count++] = &kAvx2Loops;
    }
#endif
    list.sets[list.count++] = &kBaselineLoops;
    return list;
}

namespace {

std::atomic<const Loops*>& chosenLoops() {
    static std::atomic<const Loops*> chosen{runnableLoops().sets[0]};
    return chosen;
}

}  // namespace

const Loops& loops() {
    return *chosenLoops().load(std::memory_order_relaxed);
}

void useLoops(const Loops& set) {
    chosenLoops().store(&set, std::memory_order_relaxed);
}

}  // namespace ballast::kernels
