// SPDX-License-Identifier: Apache-2.0
#include "core/cost/collective_cost.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"

namespace ballast {

Seconds collectiveSeconds(CollectiveOperation operation, int ranks, Bytes fullTensor, const Link& link) {
    if (ranks <= 1 || fullTensor.value() <= 0)
        return Seconds(0);
    // An all-reduce is a reduce-scatter and an all-gather.
    const double rounds = operation == CollectiveOperation::AllReduce ? 2.0 : 1.0;
    const double steps = rounds * (ranks - 1);
    const double bytes = steps / ranks * static_cast<double>(fullTensor.value());
    return Seconds(steps * link.latencyMicroseconds * 1e-6 + bytes / (link.bandwidthGBps * 1e9));
}

Seconds pointToPointSeconds(Bytes bytes, const Link& link) {
    return Seconds(link.latencyMicroseconds * 1e-6 +
                   static_cast<double>(bytes.value()) / (link.bandwidthGBps * 1e9));
}

Link groupLink(const ClusterSpec& cluster, std::span<const int> groupRanks) {
    std::vector<int> nodes;
    for (int rank : groupRanks)
        nodes.push_back(rank / cluster.gpusPerNode);
    std::sort(nodes.begin(), nodes.end());
    if (nodes.empty() || nodes.front() == nodes.back())
        return cluster.link(true);
    std::size_t nodeCount = 0;
    std::size_t fewest = nodes.size();
    for (std::size_t begin = 0; begin < nodes.size(); ++nodeCount) {
        std::size_t end = begin;
        while (end < nodes.size() && nodes[end] == nodes[begin])
            ++end;
        fewest = std::min(fewest, end - begin);
        begin = end;
    }
    Link link = cluster.link(false);
    if (nodeCount == nodes.size())
        return link;
    const Link& inside = cluster.link(true);
    const double steps = static_cast<double>(nodes.size() - 1);
    const double crossing = static_cast<double>(nodeCount - 1);
    link.latencyMicroseconds =
        (crossing * link.latencyMicroseconds + (steps - crossing) * inside.latencyMicroseconds) / steps;
    link.bandwidthGBps = std::min(inside.bandwidthGBps, link.bandwidthGBps * static_cast<double>(fewest));
    return link;
}

Seconds pairwiseExchangeSeconds(const ClusterSpec& cluster, std::span<const int> groupRanks,
                                std::span<const std::int64_t> bytes) {
    const std::size_t members = groupRanks.size();
    BALLAST_CHECK(bytes.size() == members * members);
    Seconds slowest;
    for (std::size_t member = 0; member < members; ++member) {
        Seconds out;
        Seconds in;
        for (std::size_t peer = 0; peer < members; ++peer) {
            if (peer == member)
                continue;
            const bool inside =
                groupRanks[member] / cluster.gpusPerNode == groupRanks[peer] / cluster.gpusPerNode;
            const std::int64_t sent = bytes[member * members + peer];
            const std::int64_t received = bytes[peer * members + member];
            if (sent > 0)
                out += pointToPointSeconds(Bytes(sent), cluster.link(inside));
            if (received > 0)
                in += pointToPointSeconds(Bytes(received), cluster.link(inside));
        }
        slowest = std::max({slowest, out, in});
    }
    return slowest;
}

}  // namespace ballast
