// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/memory_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>

#include "core/base/check.h"

namespace ballast::backend {

namespace {

constexpr std::size_t kCacheLineNumbers = 16;
/// Regions start at and are multiples of a huge page, which makes a thousandth of the page faults.
constexpr std::align_val_t kRegionAlignment{std::size_t{2} << 20};
constexpr std::size_t kRegionNumbers = static_cast<std::size_t>(kRegionAlignment) / sizeof(float);

std::size_t roundedUp(std::size_t count, std::size_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    if (this != &other) {
        if (arena_ != nullptr)
            arena_->giveBack(*this);
        arena_ = std::exchange(other.arena_, nullptr);
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        memoryClass_ = other.memoryClass_;
    }
    return *this;
}

Buffer::~Buffer() {
    if (arena_ != nullptr)
        arena_->giveBack(*this);
}

void MemoryArena::RegionDelete::operator()(float* memory) const {
    ::operator delete[](memory, kRegionAlignment);
}

MemoryArena::MemoryArena() = default;
MemoryArena::~MemoryArena() = default;

void MemoryArena::addFree(Block block) {
    auto next = freeByAddress_.lower_bound(block.begin);
    if (next != freeByAddress_.end() && block.begin + block.size == next->first) {
        const Block after{next->first, next->second};
        block.size += after.size;
        removeFree(after);
    }
    auto previous = freeByAddress_.lower_bound(block.begin);
    if (previous != freeByAddress_.begin()) {
        --previous;
        const Block before{previous->first, previous->second};
        if (before.begin + before.size == block.begin) {
            block = {before.begin, before.size + block.size};
            removeFree(before);
        }
    }
    freeByAddress_.emplace(block.begin, block.size);
    freeBySize_.emplace(block.size, block.begin);
}

void MemoryArena::removeFree(Block block) {
    freeByAddress_.erase(block.begin);
    freeBySize_.erase({block.size, block.begin});
}

void MemoryArena::addRegion(std::size_t count) {
    // One line stays unused, so that regions that happen to lie side by side are never joined.
    const std::size_t whole = roundedUp(count + kCacheLineNumbers, kRegionNumbers);
    auto* memory = static_cast<float*>(::operator new[](whole * sizeof(float), kRegionAlignment));
    regions_.emplace_back(memory);
    // A hint alone: without huge pages the region works the same.
    static_cast<void>(madvise(memory, whole * sizeof(float), MADV_HUGEPAGE));
    reserved_ += static_cast<std::int64_t>(whole * sizeof(float));
    addFree({memory, whole - kCacheLineNumbers});
}

void MemoryArena::reserve(std::int64_t bytes) {
    if (bytes <= reserved_)
        return;
    addRegion(static_cast<std::size_t>(bytes - reserved_) / sizeof(float));
    const Block region{regions_.back().get(), freeByAddress_.at(regions_.back().get())};
    std::fill_n(region.begin, region.size, 0.0F);
}

Buffer MemoryArena::take(MemoryClass memoryClass, std::int64_t count) {
    BALLAST_CHECK(count >= 0);
    Buffer buffer;
    buffer.arena_ = this;
    buffer.size_ = static_cast<std::size_t>(count);
    buffer.memoryClass_ = memoryClass;
    buffer.capacity_ = roundedUp(std::max<std::size_t>(buffer.size_, 1), kCacheLineNumbers);
    auto smallest = freeBySize_.lower_bound({buffer.capacity_, nullptr});
    if (smallest == freeBySize_.end()) {
        addRegion(buffer.capacity_);
        smallest = freeBySize_.lower_bound({buffer.capacity_, nullptr});
    }
    const Block block{smallest->second, smallest->first};
    removeFree(block);
    buffer.data_ = block.begin;
    if (block.size > buffer.capacity_)
        addFree({block.begin + buffer.capacity_, block.size - buffer.capacity_});
    const auto kind = static_cast<std::size_t>(memoryClass);
    now_[kind] += count * static_cast<std::int64_t>(sizeof(float));
    peak_[kind] = std::max(peak_[kind], now_[kind]);
    if (poison_)
        std::ranges::fill(buffer.numbers(), std::numeric_limits<float>::quiet_NaN());
    return buffer;
}

Buffer MemoryArena::takeZeros(MemoryClass memoryClass, std::int64_t count) {
    Buffer buffer = take(memoryClass, count);
    std::ranges::fill(buffer.numbers(), 0.0F);
    return buffer;
}

void MemoryArena::giveBack(Buffer& buffer) {
    now_[static_cast<std::size_t>(buffer.memoryClass_)] -=
        static_cast<std::int64_t>(buffer.size_ * sizeof(float));
    addFree({buffer.data_, buffer.capacity_});
    buffer.arena_ = nullptr;
    buffer.data_ = nullptr;
    buffer.size_ = 0;
}

}  // namespace ballast::backend
