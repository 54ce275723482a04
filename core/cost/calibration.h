// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/cost/attention_cost.h"
#include "core/cost/linear_cost.h"
#include "core/job/cluster_spec.h"

namespace ballast {

/// One timed attention call: the slices of one rank, one layer, one direction.
struct AttentionSample {
    Direction direction = Direction::Forward;
    std::int64_t headDim = 0;
    std::int64_t heads = 0;
    TileCount count;
    Seconds time;
};

struct GemmSample {
    GemmShape shape;
    Seconds time;
};

/// Work that is bound by memory: bytes as the cost model counts them.
struct BytesSample {
    Bytes bytes;
    Seconds time;
};

/// What a sweep over the kernels of a machine measured.
struct CalibrationSamples {
    std::string kernel;  ///< which attention kernel, for people
    std::vector<AttentionSample> attention;
    std::vector<GemmSample> gemm;
    std::vector<BytesSample> elementwise;
    std::vector<BytesSample> copy;
};

/// Least squares over x >= 0 of |rows x - values|, at most 8 unknowns; exact, by trying each set of unknowns
/// that may differ from 0. O(2^unknowns * rows).
std::vector<double> nonNegativeLeastSquares(const std::vector<std::vector<double>>& rows,
                                            const std::vector<double>& values);

struct TileFit {
    TileConstants constants;
    double errorPercent = 0;  ///< sum of |predicted - measured| over sum of measured
};

/// Constants of the tile model (planner.md section 3) that best predict the samples, all of one direction and
/// head size, and of which none is negative. Every second counts the same, wherever it is spent: the calls
/// that hold most of the time are met best, and a slice much shorter than a tile may be far off. Throws Error
/// (WorkFailed) when the samples do not tell the time of a tile.
TileFit fitTiles(std::span<const AttentionSample> samples);

/// Mean error, in percent, of the table's prediction for each of its points from all the others.
double gemmTableErrorPercent(const std::vector<GemmPoint>& points);

/// Sum of bytes over sum of seconds. Throws Error (WorkFailed) when there is no time in the samples.
double bandwidthGBps(std::span<const BytesSample> samples);

/// The measured part of a cluster file: attention curves by head size, the table of products and its best
/// rate as the fp32 peak, the bandwidth of element-wise work, and one link "node" with the bandwidth of
/// memory copies, whose latency of 5 us is assumed. Name, source, date, memory and size stay for the caller.
ClusterSpec calibratedCluster(const CalibrationSamples& samples);

}  // namespace ballast
