// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/packing/pool_packer.h"

namespace ballast {

/// `solver`: like `greedy`, but each pool is a mixed-integer program: first the most tokens placed, then the
/// fewest attention pairs in the heaviest micro-batch. Starts from greedy's answer and asks the program `cbc`
/// only where a bound does not prove that answer the best; never worse than greedy. Within
/// packing.time_limit_s a pool the answer may not be proven, and then depends on the machine's speed: the
/// notices say for how many pools. source: WLB-LLM (OSDI 2025), section 3.2, equation 1, which it solves with
/// another solver
class SolverPacker final : public PoolPacker {
  public:
    /// Also throws Error (BadInput) naming the package when `cbc` is not installed.
    explicit SolverPacker(const PackerSetup& setup);

    std::vector<std::string> notices() const override;

  protected:
    BinAssignment assign(std::span<const WeighedPiece> pieces, std::size_t bins) override;

  private:
    double timeLimitSeconds_;
    std::int64_t pools_ = 0;
    std::int64_t unproven_ = 0;
    double widestGap_ = 0;  ///< most pairs over their bound, less 1, of the unproven pools
};

}  // namespace ballast
