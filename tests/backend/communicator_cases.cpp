// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/communicator_cases.h"

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "backend/comm/pairwise_communicator.h"
#include "core/base/error.h"

namespace ballast::backend::testing {

namespace {

std::vector<int> everyone(const Transport& transport) {
    std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

template <class Found, class Expected>
void expectEqual(const Found& found, const Expected& expected, const std::string& what) {
    if (!(found == expected))
        throw std::runtime_error(fmt::format("{}: found {}, expected {}", what, found, expected));
}

float element(int rank, std::size_t i) {
    return static_cast<float>((static_cast<std::size_t>(rank) + 1) * (i % 97));
}

void checkAllReduce(Communicator& group, std::size_t count) {
    const int ranks = group.size();
    const auto sumOfRanks = static_cast<std::size_t>(ranks) * (static_cast<std::size_t>(ranks) + 1) / 2;
    std::vector<float> sum(count);
    std::vector<float> maximum(count);
    for (std::size_t i = 0; i < count; ++i)
        sum[i] = maximum[i] = element(group.rank(), i);
    group.allReduce(std::span(sum), Reduction::Sum);
    group.allReduce(std::span(maximum), Reduction::Maximum);
    for (std::size_t i = 0; i < count; ++i) {
        expectEqual(sum[i], static_cast<float>(sumOfRanks * (i % 97)), "all-reduce sum");
        expectEqual(maximum[i], element(ranks - 1, i), "all-reduce maximum");
    }
}

/// Member r has r * 3 numbers, so that the first has none.
void checkUnevenParts(Communicator& group) {
    std::vector<std::int64_t> counts;
    for (int r = 0; r < group.size(); ++r)
        counts.push_back(r * 3);
    const auto total =
        static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(group.rank())]);
    std::vector<float> mine(own, static_cast<float>(group.rank()));
    std::vector<float> all(total, -1.0F);
    group.allGather(std::span<const float>(mine), counts, std::span(all));
    std::size_t at = 0;
    for (int r = 0; r < group.size(); ++r)
        for (std::int64_t i = 0; i < counts[static_cast<std::size_t>(r)]; ++i)
            expectEqual(all[at++], static_cast<float>(r), "all-gather");

    std::vector<float> parts(total);
    for (std::size_t i = 0; i < total; ++i)
        parts[i] = static_cast<float>(i * 8) + static_cast<float>(group.rank());
    std::vector<float> reduced(own);
    group.reduceScatter(parts, counts, reduced);
    std::size_t offset = 0;
    for (int r = 0; r < group.rank(); ++r)
        offset += static_cast<std::size_t>(counts[static_cast<std::size_t>(r)]);
    const int ranks = group.size();
    for (std::size_t i = 0; i < own; ++i)
        expectEqual(reduced[i],
                    static_cast<float>((offset + i) * 8 * static_cast<std::size_t>(ranks)) +
                        static_cast<float>(ranks * (ranks - 1) / 2),
                    "reduce-scatter");
}

/// Member a sends (a + b) mod 3 numbers to member b, so that some pairs have nothing to say.
void checkExchange(Communicator& group) {
    const auto count = [&](int from, int to) { return from == to ? 0 : (from + to) % 3; };
    std::vector<float> out;
    std::vector<std::int64_t> outCounts;
    std::vector<std::int64_t> inCounts;
    for (int peer = 0; peer < group.size(); ++peer) {
        outCounts.push_back(count(group.rank(), peer));
        inCounts.push_back(count(peer, group.rank()));
        out.insert(out.end(), static_cast<std::size_t>(outCounts.back()),
                   static_cast<float>(group.rank() * 100 + peer));
    }
    std::vector<float> in(
        static_cast<std::size_t>(std::accumulate(inCounts.begin(), inCounts.end(), std::int64_t{0})), -1.0F);
    group.exchange(out, outCounts, in, inCounts);
    std::size_t at = 0;
    for (int peer = 0; peer < group.size(); ++peer)
        for (std::int64_t i = 0; i < inCounts[static_cast<std::size_t>(peer)]; ++i)
            expectEqual(in[at++], static_cast<float>(peer * 100 + group.rank()), "exchange");
}

}  // namespace

void checkCollectives(Transport& transport) {
    PairwiseCommunicator world(transport, everyone(transport));
    for (std::size_t count : {0, 1, 5, 1000, 100'003})
        checkAllReduce(world, count);
    checkUnevenParts(world);
    checkExchange(world);
    world.barrier();
    // A group inside the world: the ranks of this rank's parity, while the others talk among themselves.
    std::vector<int> parity;
    for (int rank = transport.rank() % 2; rank < transport.size(); rank += 2)
        parity.push_back(rank);
    PairwiseCommunicator half(transport, parity);
    checkAllReduce(half, 4001);
    checkUnevenParts(half);
    checkExchange(half);
}

void checkLargeIntegers(Transport& transport) {
    PairwiseCommunicator world(transport, everyone(transport));
    // 300 documents of 65,537: offset 16,843,009 is the first that float32 cannot hold.
    std::vector<std::int64_t> mine;
    for (std::int64_t document = 0; document < 300; ++document)
        mine.push_back(document * 65'537);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(world.size()), 300);
    std::vector<std::int64_t> all(mine.size() * counts.size());
    world.allGather(std::span<const std::int64_t>(mine), counts, std::span(all));
    for (std::size_t i = 0; i < all.size(); ++i)
        expectEqual(all[i], mine[i % 300], "offsets");
    // 64 documents of 131,071, their squares summed over the ranks.
    std::array<std::int64_t, 1> squares{64LL * 131'071 * 131'071};
    world.allReduce(std::span<std::int64_t>(squares), Reduction::Sum);
    expectEqual(squares[0], world.size() * 1'099'494'850'624LL, "sum of squares");
}

void checkMessages(Transport& transport) {
    PairwiseCommunicator world(transport, everyone(transport));
    if (world.size() < 2 || world.rank() > 1)
        return;
    const int peer = 1 - world.rank();
    auto length = [](std::int64_t microBatch) {
        return static_cast<std::size_t>(microBatch % 2 == 0 ? 4096 : 2048);
    };
    // Previous and next stage are the same peer here: both directions of all micro-batches are under way at
    // once and are asked for in the opposite order.
    for (std::int64_t microBatch = 0; microBatch < 4; ++microBatch)
        for (Direction direction : {Direction::Forward, Direction::Backward}) {
            auto owner = std::make_shared<std::vector<float>>(
                length(microBatch), static_cast<float>(microBatch * 2 + (direction == Direction::Backward)));
            world.send({peer, {7, microBatch, direction, 0}, 100 + microBatch, *owner, owner});
        }
    for (std::int64_t microBatch = 3; microBatch >= 0; --microBatch)
        for (Direction direction : {Direction::Backward, Direction::Forward}) {
            std::vector<float> payload(length(microBatch));
            const Nanoseconds sentAt = world.receive(peer, {7, microBatch, direction, 0}, payload);
            expectEqual(sentAt, 100 + microBatch, "sender's clock");
            for (float value : payload)
                expectEqual(value, static_cast<float>(microBatch * 2 + (direction == Direction::Backward)),
                            "payload");
        }
    world.flush();
}

}  // namespace ballast::backend::testing
