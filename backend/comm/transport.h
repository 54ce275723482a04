// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace ballast::backend {

/// A transfer under way.
class Transfer {
  public:
    virtual ~Transfer() = default;
    virtual bool done() = 0;
    /// Blocks without taking processor time from ranks that share the core.
    virtual void wait() = 0;
};

/// Bytes between two ranks of the world: what a communicator needs of MPI, or of threads. Messages of one
/// pair and tag arrive in the order in which they were sent. Sizes are 64-bit.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Tags are 0 .. tagLimit() - 1.
    virtual int tagLimit() const = 0;

    /// Both leave the bytes alone until the transfer is done. Sizes on both sides are equal.
    virtual std::unique_ptr<Transfer> startSend(int to, int tag, std::span<const std::byte> bytes) = 0;
    virtual std::unique_ptr<Transfer> startReceive(int from, int tag, std::span<std::byte> bytes) = 0;
};

}  // namespace ballast::backend
