// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// Constants of one direction of the attention tile model, planner.md section 3:
/// milliseconds = a*(tiles + b*blocks)*heads + c*tokens*heads + d.
struct TileConstants {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    bool assumed = false;  ///< true: not measured, derived from the other direction

    bool operator==(const TileConstants&) const = default;
};

/// Measured attention speed for one head size.
struct AttentionCurve {
    std::string kernel;
    std::int64_t headDim = 128;
    TileConstants forward;
    TileConstants backward;
    double errorPercent = 0;

    bool operator==(const AttentionCurve&) const = default;
};

/// One measured matrix product C[m,n] = A[m,k] B[k,n].
struct GemmPoint {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    double tflops = 0;

    bool operator==(const GemmPoint&) const = default;
};

/// What a group of ranks talks over: "node" inside a node, "network" between nodes.
struct Link {
    std::string scope;
    double latencyMicroseconds = 0;
    double bandwidthGBps = 0;
    bool assumed = false;

    bool operator==(const Link&) const = default;
};

/// A cluster as the cluster file of formats.md describes it; every figure carries its source in the file.
struct ClusterSpec {
    std::string name;
    std::string source;
    std::optional<std::string> measured;  ///< date, absent for published figures
    int gpusPerNode = 1;
    double memoryGiB = 0;                      ///< of one rank
    std::map<std::string, double> peakTflops;  ///< by precision: "bf16", "fp32"
    double hbmGBps = 0;                        ///< effective bandwidth of element-wise work
    std::vector<AttentionCurve> attention;
    std::vector<GemmPoint> gemm;
    double gemmErrorPercent = 0;
    bool gemmAssumed = false;  ///< true: derived from another device, see source
    std::vector<Link> links;
    double overlapSlowdown = 1.0;
    std::vector<double> gpuSpeed;  ///< by rank, 1 = nominal; empty: all 1

    bool operator==(const ClusterSpec&) const = default;

    /// The link between the ranks of a group whose members sit on one node, or on several. Throws when the
    /// file has none.
    const Link& link(bool insideNode) const;
    /// Peak of a precision in FLOP/s. Throws Error naming the cluster when the file does not state it.
    double peakFlops(std::string_view precision) const;
};

/// Reads a preset by name, `this-machine` from its place, or a file by path.
/// `worldSize` shares the memory of `this-machine` among the ranks. Errors name file and key; a missing
/// `this-machine` file names the command that writes it.
ClusterSpec loadClusterSpec(std::string_view presetOrPath, int worldSize = 1);
ClusterSpec parseClusterSpec(std::string_view json, std::string_view source);
std::string clusterSpecJson(const ClusterSpec& cluster);

/// $XDG_DATA_HOME/ballast/clusters/this-machine.json, default under ~/.local/share.
std::filesystem::path thisMachinePath();

std::vector<std::string> clusterPresetNames();

}  // namespace ballast
