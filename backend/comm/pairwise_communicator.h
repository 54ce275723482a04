// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <list>
#include <memory>
#include <vector>

#include "backend/comm/communicator.h"
#include "backend/comm/transport.h"

namespace ballast::backend {

/// Collectives out of direct messages between the members, the same code over every transport: that makes a
/// run over MPI bit-equal to one over threads. Large sums go as reduce-scatter and all-gather, each rank
/// summing its own part in rank order (bandwidth-optimal); small ones in one exchange of everything.
///
/// All groups of a world share the transport's tag 0. That is sound because every two ranks run the
/// collectives that they have in common in the same order, and messages of a pair keep their order.
class PairwiseCommunicator final : public Communicator {
  public:
    /// members   world ranks, ascending; the transport's rank is one of them
    PairwiseCommunicator(Transport& transport, std::vector<int> members);
    ~PairwiseCommunicator() override;

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(members_.size()); }
    std::span<const int> members() const override { return members_; }

    void allReduce(std::span<float> values, Reduction reduction) override;
    void allReduce(std::span<double> values, Reduction reduction) override;
    void allReduce(std::span<std::int64_t> values, Reduction reduction) override;
    void allGather(std::span<const float> mine, std::span<const std::int64_t> counts,
                   std::span<float> all) override;
    void allGather(std::span<const std::int64_t> mine, std::span<const std::int64_t> counts,
                   std::span<std::int64_t> all) override;
    void allGather(std::span<const std::byte> mine, std::span<const std::int64_t> counts,
                   std::span<std::byte> all) override;
    void reduceScatter(std::span<const float> all, std::span<const std::int64_t> counts,
                       std::span<float> mine) override;
    void exchange(std::span<const float> out, std::span<const std::int64_t> outCounts, std::span<float> in,
                  std::span<const std::int64_t> inCounts) override;
    void send(OutgoingMessage message) override;
    Nanoseconds receive(int from, const MessageTag& tag, std::span<float> payload) override;
    void progress() override;
    void flush() override;
    void barrier() override;

  private:
    using Header = std::array<std::int64_t, 6>;  ///< step, micro-batch, direction, chunk, numbers, sentAt
    struct Pending;

    template <class Number>
    void reduceAll(std::span<Number> values, Reduction reduction);
    template <class Number>
    void gatherAll(std::span<const Number> mine, std::span<const std::int64_t> counts, std::span<Number> all);
    template <class Number>
    void reduceParts(std::span<const Number> all, std::span<const std::int64_t> counts,
                     std::span<Number> mine, Reduction reduction);
    int messageTag(const MessageTag& tag) const;

    Transport* transport_;
    std::vector<int> members_;
    int rank_ = 0;
    std::vector<std::byte> arrivals_;  ///< other members' parts while they are summed
    std::list<std::unique_ptr<Pending>> outbox_;
};

}  // namespace ballast::backend
