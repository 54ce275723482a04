// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ballast::kernels {

/// What every kernel needs of the machine: one thread a rank, and memory to work in. Kernels are plain
/// functions over spans of device memory; on the cpu that is ordinary memory.

/// Limits the BLAS library to the calling thread, for the whole process, and makes it use the kernels that
/// suit the processor: the virtual clock counts a rank's CPU time on one thread only. matmul() does the same
/// on its first call. Thread-safe.
void useOneThread();

/// Threads that the BLAS library would use for one call now: 1 after useOneThread().
int blasThreads();

/// Processor, instruction set that the kernels chose, and the BLAS library's, in one line for people.
std::string deviceDescription();

/// The processor's name alone, as the operating system gives it ("unknown processor" where it does not).
std::string processorName();

/// Memory that a kernel may overwrite during a call. It grows to the largest call and stays, so that a step
/// after the first allocates nothing. One Scratch belongs to one thread at a time. Its contents mean nothing
/// between two calls.
class Scratch {
  public:
    /// At least `count` floats, aligned to 64 bytes, with unspecified contents. Invalidates what an earlier
    /// call gave.
    std::span<float> take(std::size_t count);

    /// Bytes held, for the memory account.
    [[nodiscard]] std::size_t bytes() const { return memory_.size() * sizeof(float); }

    /// Fills all that is held with `value`. Tests poison with NaN to prove that no kernel reads what it did
    /// not write.
    void fill(float value);

  private:
    std::vector<float> memory_;
};

}  // namespace ballast::kernels
