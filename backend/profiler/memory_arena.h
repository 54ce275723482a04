// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace ballast::backend {

/// What a rank's memory is for; the classes of core/cost/memory_cost.h and of StepReport::peakBytes, in that
/// order.
enum class MemoryClass { Weights, Gradients, Optimizer, Activations, GatheredKeyValues, Logits };
inline constexpr std::size_t kMemoryClasses = 6;

class MemoryArena;

/// Numbers from an arena; goes back to it at the end. Contents are unspecified at first.
class Buffer {
  public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    std::span<float> numbers() const { return {data_, size_}; }
    operator std::span<float>() const { return numbers(); }
    operator std::span<const float>() const { return numbers(); }
    std::size_t size() const { return size_; }
    float* data() const { return data_; }

  private:
    friend class MemoryArena;
    MemoryArena* arena_ = nullptr;
    float* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    MemoryClass memoryClass_ = MemoryClass::Activations;
};

/// The memory of one rank: large regions, from which buffers are cut best fit first and into which they go
/// back, joined with their free neighbours, so that micro-batches of ever new lengths use the same pages
/// again. Counts the bytes in use by class. Outlives its buffers; one thread.
class MemoryArena {
  public:
    MemoryArena();
    ~MemoryArena();
    MemoryArena(const MemoryArena&) = delete;
    MemoryArena& operator=(const MemoryArena&) = delete;

    /// Makes the regions hold at least `bytes` in all, with every new page written once: called before a
    /// step, so that the kernels' measured time has no page faults in it.
    void reserve(std::int64_t bytes);
    /// Bytes of all regions.
    std::int64_t reserved() const { return reserved_; }

    Buffer take(MemoryClass memoryClass, std::int64_t count);
    /// The same, all zero.
    Buffer takeZeros(MemoryClass memoryClass, std::int64_t count);

    /// Bytes in use now, and the most since the last `resetPeaks`.
    std::int64_t bytes(MemoryClass memoryClass) const { return now_[static_cast<std::size_t>(memoryClass)]; }
    std::int64_t peak(MemoryClass memoryClass) const { return peak_[static_cast<std::size_t>(memoryClass)]; }
    void resetPeaks() { peak_ = now_; }

    /// Tests: fills what is taken with NaN, to prove that nobody reads what was not written.
    void poison(bool on) { poison_ = on; }

  private:
    friend class Buffer;
    struct RegionDelete {
        void operator()(float* memory) const;
    };
    /// Free numbers from an address on.
    struct Block {
        float* begin;
        std::size_t size;
    };

    void giveBack(Buffer& buffer);
    void addRegion(std::size_t count);
    void addFree(Block block);
    void removeFree(Block block);

    std::vector<std::unique_ptr<float[], RegionDelete>> regions_;
    std::int64_t reserved_ = 0;
    std::map<float*, std::size_t> freeByAddress_;
    std::set<std::pair<std::size_t, float*>> freeBySize_;
    std::array<std::int64_t, kMemoryClasses> now_{};
    std::array<std::int64_t, kMemoryClasses> peak_{};
    bool poison_ = false;
};

}  // namespace ballast::backend
