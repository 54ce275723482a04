// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/job/cluster_spec.h"

namespace ballast {

/// One matrix product C[m,n] = A[m,k] B[k,n].
struct GemmShape {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;

    bool operator==(const GemmShape&) const = default;
};

/// Seconds of matrix products from a cluster's measured table. The rate of a shape is the mean of the table's
/// log rates, weighted by 1 / distance^4 in (log2 m, log2 n, log2 k), the shape first clamped to the table's
/// range in each of the three; a measured shape gets exactly its measured rate. Immutable; safe to read from
/// threads.
class GemmTable {
  public:
    /// `scale` multiplies every rate, for a precision other than the table's.
    GemmTable(const std::vector<GemmPoint>& points, double scale);

    /// 2*m*n*k over the shape's rate; 0 for an empty product. O(points).
    Seconds seconds(const GemmShape& shape) const;
    /// FLOP/s.
    double rate(const GemmShape& shape) const;
    /// Whether a side lies outside the table by more than rounding.
    bool isExtrapolated(const GemmShape& shape) const;

  private:
    struct Point {
        double place[3];
        double logRate;
    };
    std::vector<Point> points_;
    double least_[3];
    double most_[3];
};

}  // namespace ballast
