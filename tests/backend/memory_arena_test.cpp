// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/memory_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace ballast::backend {
namespace {

TEST(MemoryArena, MicroBatchesOfEverNewLengthsUseTheReservedBytesAgain) {
    MemoryArena arena;
    arena.reserve(64 << 20);
    const std::int64_t reserved = arena.reserved();
    std::mt19937 random(1);
    std::uniform_int_distribution<std::int64_t> tokens(100, 8192);
    for (int step = 0; step < 200; ++step) {
        std::vector<Buffer> kept;
        const std::int64_t length = tokens(random);
        for (int layer = 0; layer < 8; ++layer)
            for (std::int64_t width : {64, 64, 128, 1})
                kept.push_back(arena.take(MemoryClass::Activations, length * width));
        std::ranges::shuffle(kept, random);
    }
    EXPECT_EQ(arena.reserved(), reserved);
    EXPECT_EQ(arena.bytes(MemoryClass::Activations), 0);
}

TEST(MemoryArena, BuffersNeverOverlapWhateverTheOrderInWhichTheyGoBack) {
    MemoryArena arena;
    std::mt19937 random(2);
    std::uniform_int_distribution<std::int64_t> counts(0, 5000);
    std::vector<Buffer> held;
    for (int round = 0; round < 3000; ++round) {
        if (held.size() < 40) {
            held.push_back(arena.take(MemoryClass::Logits, counts(random)));
            std::ranges::fill(held.back().numbers(), static_cast<float>(round));
        } else {
            std::uniform_int_distribution<std::size_t> any(0, held.size() - 1);
            const std::size_t at = any(random);
            EXPECT_TRUE(std::ranges::all_of(held[at].numbers(),
                                            [&](float value) { return value == held[at].numbers()[0]; }));
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }
}

TEST(MemoryArena, GrowsWhenMoreIsTakenThanWasReservedAndJoinsWhatComesBack) {
    MemoryArena arena;
    arena.reserve(1);
    const std::int64_t small = arena.reserved();
    {
        Buffer large = arena.take(MemoryClass::Activations, small);
        EXPECT_GT(arena.reserved(), small);
    }
    const std::int64_t grown = arena.reserved();
    { Buffer again = arena.take(MemoryClass::Activations, small); }
    EXPECT_EQ(arena.reserved(), grown);
}

}  // namespace
}  // namespace ballast::backend
