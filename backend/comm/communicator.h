// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/units.h"
#include "core/cost/attention_cost.h"

namespace ballast::backend {

enum class Reduction { Sum, Maximum };

/// Which message between two stages this is; travels in its header, so that a mix-up is an error and never
/// wrong training.
struct MessageTag {
    std::int64_t step = 0;
    std::int64_t microBatch = 0;  ///< index in the pipeline's order
    Direction direction = Direction::Forward;
    std::int64_t chunk = 0;  ///< virtual stage, from 0

    bool operator==(const MessageTag&) const = default;
};

/// A message that leaves without blocking. `owner` keeps the payload alive until the transport is done with
/// it.
struct OutgoingMessage {
    int to = 0;  ///< rank in the communicator
    MessageTag tag;
    Nanoseconds sentAt = 0;  ///< the sender's clock, for the receiver's
    std::span<const float> payload;
    std::shared_ptr<const void> owner;
};

/// A group of ranks that talk. Not a clock and not a profile: it moves numbers and nothing else.
///
/// Collectives block, and every member calls them in the same order with the same counts. Counts and offsets
/// are 64-bit and count elements. Sums are taken in the order of the ranks whatever the transport, so that
/// two transports give the same bits. A member that has nothing (an empty shard) takes part with a count of
/// 0. One communicator belongs to one thread. A broken connection throws ballast::Error (WorkFailed).
class Communicator {
  public:
    virtual ~Communicator() = default;

    virtual int rank() const = 0;  ///< place in this group
    virtual int size() const = 0;
    /// World ranks of the members, in the group's order.
    virtual std::span<const int> members() const = 0;

    virtual void allReduce(std::span<float> values, Reduction reduction) = 0;
    virtual void allReduce(std::span<double> values, Reduction reduction) = 0;
    virtual void allReduce(std::span<std::int64_t> values, Reduction reduction) = 0;

    /// all = the members' parts one after the other; counts[r] elements from member r, all.size() their sum.
    virtual void allGather(std::span<const float> mine, std::span<const std::int64_t> counts,
                           std::span<float> all) = 0;
    virtual void allGather(std::span<const std::int64_t> mine, std::span<const std::int64_t> counts,
                           std::span<std::int64_t> all) = 0;
    virtual void allGather(std::span<const std::byte> mine, std::span<const std::int64_t> counts,
                           std::span<std::byte> all) = 0;

    /// mine = the sum over the members of their part for this rank; parts lie in `all` one after the other.
    virtual void reduceScatter(std::span<const float> all, std::span<const std::int64_t> counts,
                               std::span<float> mine) = 0;

    /// Every member sends to every other its own count: outCounts[r] elements of `out` go to member r, and
    /// inCounts[r] come from it into `in`; parts lie one after the other. A member sends itself nothing.
    virtual void exchange(std::span<const float> out, std::span<const std::int64_t> outCounts,
                          std::span<float> in, std::span<const std::int64_t> inCounts) = 0;

    /// Leaves at once; the payload must stay as it is until `flush` or the message is known to have arrived.
    virtual void send(OutgoingMessage message) = 0;
    /// Waits for the message with this tag and returns the sender's clock. Throws Error (WorkFailed) naming
    /// both ranks when tag or length are not the expected ones.
    virtual Nanoseconds receive(int from, const MessageTag& tag, std::span<float> payload) = 0;
    /// Moves pending sends on and lets go of the buffers of those that are done.
    virtual void progress() = 0;
    /// Waits until every send is done.
    virtual void flush() = 0;

    virtual void barrier() = 0;
};

}  // namespace ballast::backend
