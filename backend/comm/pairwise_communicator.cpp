// SPDX-License-Identifier: Apache-2.0
#include "backend/comm/pairwise_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast::backend {

namespace {

constexpr int kCollectiveTag = 0;
/// Up to here one exchange of everything beats two of parts: what costs is the number of hops.
constexpr std::size_t kSmallBytes = 4096;

using Transfers = std::vector<std::unique_ptr<Transfer>>;

void waitAll(Transfers& transfers) {
    for (auto& transfer : transfers)
        transfer->wait();
    transfers.clear();
}

template <class Number>
void combine(std::span<Number> into, const Number* from, Reduction reduction) {
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = reduction == Reduction::Sum ? into[i] + from[i] : std::max(into[i], from[i]);
}

std::int64_t sumOf(std::span<const std::int64_t> counts) {
    std::int64_t sum = 0;
    for (std::int64_t count : counts)
        sum += count;
    return sum;
}

}  // namespace

struct PairwiseCommunicator::Pending {
    OutgoingMessage message;
    Header header{};
    std::unique_ptr<Transfer> headerTransfer;
    std::unique_ptr<Transfer> payloadTransfer;

    bool done() { return headerTransfer->done() && (!payloadTransfer || payloadTransfer->done()); }
    void wait() {
        headerTransfer->wait();
        if (payloadTransfer)
            payloadTransfer->wait();
    }
};

PairwiseCommunicator::PairwiseCommunicator(Transport& transport, std::vector<int> members)
    : transport_(&transport), members_(std::move(members)) {
    auto own = std::find(members_.begin(), members_.end(), transport.rank());
    BALLAST_CHECK(own != members_.end());
    BALLAST_CHECK(std::is_sorted(members_.begin(), members_.end()));
    rank_ = static_cast<int>(own - members_.begin());
}

PairwiseCommunicator::~PairwiseCommunicator() = default;

template <class Number>
void PairwiseCommunicator::gatherAll(std::span<const Number> mine, std::span<const std::int64_t> counts,
                                     std::span<Number> all) {
    BALLAST_CHECK(counts.size() == members_.size());
    BALLAST_CHECK(static_cast<std::int64_t>(all.size()) == sumOf(counts));
    BALLAST_CHECK(static_cast<std::int64_t>(mine.size()) == counts[static_cast<std::size_t>(rank_)]);
    Transfers transfers;
    std::size_t offset = 0;
    for (std::size_t r = 0; r < members_.size(); ++r) {
        std::span<Number> part = all.subspan(offset, static_cast<std::size_t>(counts[r]));
        offset += part.size();
        if (static_cast<int>(r) == rank_) {
            if (part.data() != mine.data() && !mine.empty())
                std::memcpy(part.data(), mine.data(), mine.size_bytes());
        } else if (!part.empty()) {
            transfers.push_back(
                transport_->startReceive(members_[r], kCollectiveTag, std::as_writable_bytes(part)));
        }
    }
    for (std::size_t r = 0; r < members_.size() && !mine.empty(); ++r)
        if (static_cast<int>(r) != rank_)
            transfers.push_back(transport_->startSend(members_[r], kCollectiveTag, std::as_bytes(mine)));
    waitAll(transfers);
}

template <class Number>
void PairwiseCommunicator::reduceParts(std::span<const Number> all, std::span<const std::int64_t> counts,
                                       std::span<Number> mine, Reduction reduction) {
    BALLAST_CHECK(counts.size() == members_.size());
    BALLAST_CHECK(static_cast<std::int64_t>(all.size()) == sumOf(counts));
    BALLAST_CHECK(static_cast<std::int64_t>(mine.size()) == counts[static_cast<std::size_t>(rank_)]);
    arrivals_.resize(std::max(arrivals_.size(), mine.size_bytes() * members_.size()));
    Transfers transfers;
    std::span<const Number> own;
    std::size_t offset = 0;
    for (std::size_t r = 0; r < members_.size(); ++r) {
        std::span<const Number> part = all.subspan(offset, static_cast<std::size_t>(counts[r]));
        offset += part.size();
        if (static_cast<int>(r) == rank_) {
            own = part;
            continue;
        }
        if (!mine.empty())
            transfers.push_back(transport_->startReceive(
                members_[r], kCollectiveTag,
                std::span(arrivals_).subspan(r * mine.size_bytes(), mine.size_bytes())));
        if (!part.empty())
            transfers.push_back(transport_->startSend(members_[r], kCollectiveTag, std::as_bytes(part)));
    }
    waitAll(transfers);
    if (mine.empty())
        return;
    // In rank order whatever rank this is, so that the bits depend on the group alone. `mine` may be `own`.
    std::byte* kept = arrivals_.data() + static_cast<std::size_t>(rank_) * mine.size_bytes();
    std::memcpy(kept, own.data(), own.size_bytes());
    std::memcpy(mine.data(), arrivals_.data(), mine.size_bytes());
    for (std::size_t r = 1; r < members_.size(); ++r)
        combine(mine, reinterpret_cast<const Number*>(arrivals_.data() + r * mine.size_bytes()), reduction);
}

template <class Number>
void PairwiseCommunicator::reduceAll(std::span<Number> values, Reduction reduction) {
    const std::size_t ranks = members_.size();
    if (ranks == 1 || values.empty())
        return;
    if (values.size_bytes() <= kSmallBytes) {
        std::vector<std::int64_t> counts(ranks, static_cast<std::int64_t>(values.size()));
        std::vector<Number> all(values.size() * ranks);
        gatherAll<Number>(values, counts, all);
        std::copy_n(all.begin(), values.size(), values.begin());
        for (std::size_t r = 1; r < ranks; ++r)
            combine(values, all.data() + r * values.size(), reduction);
        return;
    }
    std::vector<std::int64_t> counts(ranks);
    std::size_t ownBegin = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        std::size_t begin = values.size() * r / ranks;
        std::size_t end = values.size() * (r + 1) / ranks;
        counts[r] = static_cast<std::int64_t>(end - begin);
        if (static_cast<int>(r) == rank_)
            ownBegin = begin;
    }
    std::span<Number> own =
        values.subspan(ownBegin, static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]));
    reduceParts<Number>(values, counts, own, reduction);
    gatherAll<Number>(own, counts, values);
}

void PairwiseCommunicator::allReduce(std::span<float> values, Reduction reduction) {
    reduceAll(values, reduction);
}
void PairwiseCommunicator::allReduce(std::span<double> values, Reduction reduction) {
    reduceAll(values, reduction);
}
void PairwiseCommunicator::allReduce(std::span<std::int64_t> values, Reduction reduction) {
    reduceAll(values, reduction);
}
void PairwiseCommunicator::allGather(std::span<const float> mine, std::span<const std::int64_t> counts,
                                     std::span<float> all) {
    gatherAll(mine, counts, all);
}
void PairwiseCommunicator::allGather(std::span<const std::int64_t> mine, std::span<const std::int64_t> counts,
                                     std::span<std::int64_t> all) {
    gatherAll(mine, counts, all);
}
void PairwiseCommunicator::allGather(std::span<const std::byte> mine, std::span<const std::int64_t> counts,
                                     std::span<std::byte> all) {
    gatherAll(mine, counts, all);
}
void PairwiseCommunicator::reduceScatter(std::span<const float> all, std::span<const std::int64_t> counts,
                                         std::span<float> mine) {
    reduceParts(all, counts, mine, Reduction::Sum);
}

void PairwiseCommunicator::exchange(std::span<const float> out, std::span<const std::int64_t> outCounts,
                                    std::span<float> in, std::span<const std::int64_t> inCounts) {
    BALLAST_CHECK(outCounts.size() == members_.size() && inCounts.size() == members_.size());
    BALLAST_CHECK(static_cast<std::int64_t>(out.size()) == sumOf(outCounts));
    BALLAST_CHECK(static_cast<std::int64_t>(in.size()) == sumOf(inCounts));
    const auto own = static_cast<std::size_t>(rank_);
    BALLAST_CHECK(outCounts[own] == 0 && inCounts[own] == 0);
    Transfers transfers;
    std::size_t inOffset = 0;
    std::size_t outOffset = 0;
    for (std::size_t r = 0; r < members_.size(); ++r) {
        std::span<float> coming = in.subspan(inOffset, static_cast<std::size_t>(inCounts[r]));
        std::span<const float> going = out.subspan(outOffset, static_cast<std::size_t>(outCounts[r]));
        inOffset += coming.size();
        outOffset += going.size();
        if (!coming.empty())
            transfers.push_back(
                transport_->startReceive(members_[r], kCollectiveTag, std::as_writable_bytes(coming)));
        if (!going.empty())
            transfers.push_back(transport_->startSend(members_[r], kCollectiveTag, std::as_bytes(going)));
    }
    waitAll(transfers);
}

int PairwiseCommunicator::messageTag(const MessageTag& tag) const {
    const std::int64_t kinds = transport_->tagLimit() - 1;
    std::int64_t code =
        (tag.microBatch * 2 + (tag.direction == Direction::Backward ? 1 : 0)) * 16 + tag.chunk;
    return static_cast<int>(1 + code % kinds);
}

void PairwiseCommunicator::send(OutgoingMessage message) {
    progress();
    auto pending = std::make_unique<Pending>();
    const MessageTag& tag = message.tag;
    pending->header = {tag.step,
                       tag.microBatch,
                       static_cast<std::int64_t>(tag.direction),
                       tag.chunk,
                       static_cast<std::int64_t>(message.payload.size()),
                       message.sentAt};
    const int to = members_[static_cast<std::size_t>(message.to)];
    const int code = messageTag(tag);
    pending->headerTransfer = transport_->startSend(to, code, std::as_bytes(std::span(pending->header)));
    if (!message.payload.empty())
        pending->payloadTransfer = transport_->startSend(to, code, std::as_bytes(message.payload));
    pending->message = std::move(message);
    outbox_.push_back(std::move(pending));
}

Nanoseconds PairwiseCommunicator::receive(int from, const MessageTag& tag, std::span<float> payload) {
    const int sender = members_[static_cast<std::size_t>(from)];
    const int code = messageTag(tag);
    Header header{};
    transport_->startReceive(sender, code, std::as_writable_bytes(std::span(header)))->wait();
    const MessageTag found{header[0], header[1], static_cast<Direction>(header[2]), header[3]};
    if (!(found == tag) || header[4] != static_cast<std::int64_t>(payload.size()))
        throw Error(
            fmt::format("rank {} expected from rank {} step {}, micro-batch {}, {}, chunk {} of {} numbers, "
                        "received step {}, micro-batch {}, {}, chunk {} of {} numbers",
                        transport_->rank(), sender, tag.step, tag.microBatch,
                        tag.direction == Direction::Forward ? "forward" : "backward", tag.chunk,
                        payload.size(), header[0], header[1], header[2] == 0 ? "forward" : "backward",
                        header[3], header[4]),
            ErrorCode::WorkFailed);
    if (!payload.empty())
        transport_->startReceive(sender, code, std::as_writable_bytes(payload))->wait();
    return header[5];
}

void PairwiseCommunicator::progress() {
    outbox_.remove_if([](const std::unique_ptr<Pending>& pending) { return pending->done(); });
}

void PairwiseCommunicator::flush() {
    for (auto& pending : outbox_)
        pending->wait();
    outbox_.clear();
}

void PairwiseCommunicator::barrier() {
    std::int64_t nothing = 0;
    reduceAll(std::span(&nothing, 1), Reduction::Sum);
}

}  // namespace ballast::backend
