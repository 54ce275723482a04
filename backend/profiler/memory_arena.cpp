// SPDX-License-Identifier: Apache-2.0
#include "backend/profiler/memory_arena.h"

#include <algorithm>
#include <limits>
#include <new>

#include "core/base/check.h"

namespace ballast::backend {

namespace {

constexpr std::align_val_t kAlignment{64};
/// A free block serves requests down to half its size; smaller ones would waste it.
constexpr std::size_t kLargestWaste = 2;

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

void MemoryArena::AlignedDelete::operator()(float* memory) const {
    ::operator delete[](memory, kAlignment);
}

MemoryArena::MemoryArena() = default;
MemoryArena::~MemoryArena() = default;

Buffer MemoryArena::take(MemoryClass memoryClass, std::int64_t count) {
    BALLAST_CHECK(count >= 0);
    Buffer buffer;
    buffer.arena_ = this;
    buffer.size_ = static_cast<std::size_t>(count);
    buffer.memoryClass_ = memoryClass;
    const std::size_t wanted = std::max<std::size_t>(buffer.size_, 16);
    auto block = free_.lower_bound(wanted);
    if (block != free_.end() && block->first <= wanted * kLargestWaste) {
        buffer.capacity_ = block->first;
        buffer.data_ = block->second.release();
        free_.erase(block);
    } else {
        buffer.capacity_ = wanted;
        buffer.data_ = static_cast<float*>(::operator new[](wanted * sizeof(float), kAlignment));
    }
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
    free_.emplace(buffer.capacity_, std::unique_ptr<float[], AlignedDelete>(buffer.data_));
    buffer.arena_ = nullptr;
    buffer.data_ = nullptr;
    buffer.size_ = 0;
}

}  // namespace ballast::backend
