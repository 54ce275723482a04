// SPDX-License-Identifier: Apache-2.0
#include "core/cost/collective_cost.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace ballast {
namespace {

const Link kLink{"node", 2, 100, false};

/// A ring, step by step: every rank sends one n-th of the tensor in each.
double ringByHand(int passes, int ranks, double bytes, const Link& link) {
    double seconds = 0;
    for (int step = 0; step < passes * (ranks - 1); ++step)
        seconds += link.latencyMicroseconds * 1e-6 + bytes / ranks / (link.bandwidthGBps * 1e9);
    return seconds;
}

TEST(Collectives, TakeTheStepsOfARing) {
    for (int ranks : {2, 3, 8, 64}) {
        const double bytes = 1 << 20;
        const Bytes tensor(1 << 20);
        EXPECT_NEAR(collectiveSeconds(CollectiveOperation::AllReduce, ranks, tensor, kLink).value(),
                    ringByHand(2, ranks, bytes, kLink), 1e-12);
        EXPECT_NEAR(collectiveSeconds(CollectiveOperation::AllGather, ranks, tensor, kLink).value(),
                    ringByHand(1, ranks, bytes, kLink), 1e-12);
        EXPECT_NEAR(collectiveSeconds(CollectiveOperation::ReduceScatter, ranks, tensor, kLink).value(),
                    ringByHand(1, ranks, bytes, kLink), 1e-12);
    }
}

TEST(Collectives, CostNothingForOneRankOrNoBytes) {
    EXPECT_EQ(collectiveSeconds(CollectiveOperation::AllReduce, 1, Bytes(1000), kLink), Seconds(0));
    EXPECT_EQ(collectiveSeconds(CollectiveOperation::AllGather, 8, Bytes(0), kLink), Seconds(0));
}

TEST(Collectives, PointToPointIsLatencyPlusBytesOverBandwidth) {
    EXPECT_NEAR(pointToPointSeconds(Bytes(1'000'000'000), kLink).value(), 2e-6 + 0.01, 1e-12);
}

// NVIDIA H200, NVLink 4, 8 GiB in half precision: microseconds measured with nccl-tests (hao-ai-lab/DistCA,
// network-prof-nccl/nccl_perf.csv).
TEST(Collectives, AgreeWithMeasuredNvlinkTimesOfLargeTensors) {
    const Link preset = loadClusterSpec("h100-dgx").link(true);
    const Bytes tensor(8589934592);
    const auto relative = [&](CollectiveOperation operation, int ranks, double measuredMicroseconds) {
        return collectiveSeconds(operation, ranks, tensor, preset).value() / (measuredMicroseconds * 1e-6);
    };
    EXPECT_NEAR(relative(CollectiveOperation::AllGather, 2, 11821.0), 1, 0.05);
    EXPECT_NEAR(relative(CollectiveOperation::AllGather, 4, 17515.0), 1, 0.05);
    EXPECT_NEAR(relative(CollectiveOperation::AllReduce, 2, 23464.0), 1, 0.05);
}

ClusterSpec nodesOfFour() {
    ClusterSpec cluster;
    cluster.gpusPerNode = 4;
    cluster.links = {{"node", 2, 100, false}, {"network", 10, 30, false}};
    return cluster;
}

TEST(GroupLink, IsTheNodesLinkInsideANode) {
    const std::vector<int> group = {4, 5, 6, 7};
    EXPECT_EQ(groupLink(nodesOfFour(), group), nodesOfFour().link(true));
}

TEST(GroupLink, OneMemberANodeUsesTheNetworkAlone) {
    const std::vector<int> group = {0, 4, 8};
    EXPECT_EQ(groupLink(nodesOfFour(), group), nodesOfFour().link(false));
}

TEST(GroupLink, MembersOfANodeShareTheRingOverTheirPorts) {
    const std::vector<int> pairs = {0, 1, 4, 5};
    const Link link = groupLink(nodesOfFour(), pairs);
    EXPECT_DOUBLE_EQ(link.bandwidthGBps, 60);
    EXPECT_DOUBLE_EQ(link.latencyMicroseconds, (1 * 10 + 2 * 2) / 3.0);
    std::vector<int> all(8);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_DOUBLE_EQ(groupLink(nodesOfFour(), all).bandwidthGBps, 100) << "the node's own link bounds it";
}

TEST(GroupLink, TheEmptiestNodeDecides) {
    const std::vector<int> uneven = {0, 1, 2, 4};
    EXPECT_DOUBLE_EQ(groupLink(nodesOfFour(), uneven).bandwidthGBps, 30);
}

// Ring over 8 NICs of 400 Gb/s: up to 396 GB/s bus bandwidth (NVIDIA/nccl-tests issue 319).
TEST(GroupLink, WholeNodesReachTheReportedRingBandwidthOfEightPorts) {
    ClusterSpec cluster = loadClusterSpec("h100-dgx");
    std::vector<int> group(64);
    std::iota(group.begin(), group.end(), 0);
    const double bandwidth = groupLink(cluster, group).bandwidthGBps;
    EXPECT_GT(bandwidth, 350 * 0.95);
    EXPECT_LT(bandwidth, 396 * 1.05);
}

}  // namespace
}  // namespace ballast
