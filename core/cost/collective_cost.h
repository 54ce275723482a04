// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/base/units.h"
#include "core/job/cluster_spec.h"

namespace ballast {

enum class CollectiveOperation { AllReduce, AllGather, ReduceScatter };

/// Ring model, NCCL's own accounting (NVIDIA nccl-tests PERFORMANCE.md): all-reduce 2(n-1)*latency +
/// 2(n-1)/n*S/B, all-gather and reduce-scatter (n-1)*latency + (n-1)/n*S/B; S = bytes of the full tensor. 0
/// for one rank or no bytes.
Seconds collectiveSeconds(CollectiveOperation operation, int ranks, Bytes fullTensor, const Link& link);

/// latency + S/B.
Seconds pointToPointSeconds(Bytes bytes, const Link& link);

/// What the ring of a group runs over. On one node its link. On several, each member has a network port of
/// its own, so a node with g members carries the ring at g times the network bandwidth, at most the node's;
/// of the ring's n-1 steps, nodes-1 cross the network (NVIDIA/nccl src/graph/tuning.cc). The emptiest node
/// decides.
Link groupLink(const ClusterSpec& cluster, std::span<const int> groupRanks);

/// Every member sends to every other its own number of bytes, bytes[from*n + to], one peer after the other
/// in both directions at once; a peer that gets nothing costs nothing. Seconds of the slowest member: the
/// larger of the sums over its peers of latency + bytes/B, out and in, each over the link between the two.
Seconds pairwiseExchangeSeconds(const ClusterSpec& cluster, std::span<const int> groupRanks,
                                std::span<const std::int64_t> bytes);

}  // namespace ballast
