// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/clock.h"

#include <time.h>

#include <algorithm>

#include "core/base/check.h"

namespace ballast::backend {

namespace {

Nanoseconds read(clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return static_cast<Nanoseconds>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Nanoseconds RankClock::monotonic() {
    return read(CLOCK_MONOTONIC);
}

Nanoseconds RankClock::threadCpuTime() {
    return read(CLOCK_THREAD_CPUTIME_ID);
}

void RankClock::start(Nanoseconds monotonic) {
    origin_ = monotonic;
    hand_ = 0;
}

Nanoseconds RankClock::now() const {
    return isVirtual() ? hand_ : monotonic() - origin_;
}

void RankClock::beginCompute() {
    BALLAST_CHECK(computeSince_ < 0);
    computeSince_ = isVirtual() ? threadCpuTime() : 0;
}

void RankClock::endCompute() {
    BALLAST_CHECK(computeSince_ >= 0);
    if (isVirtual())
        hand_ += threadCpuTime() - computeSince_;
    computeSince_ = -1;
}

void RankClock::advanceTo(Nanoseconds time) {
    if (isVirtual())
        hand_ = std::max(hand_, time);
}

}  // namespace ballast::backend
