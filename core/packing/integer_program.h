// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/packing/bin_assignment.h"

namespace ballast {

/// The packing of one pool as a mixed-integer program for the program `cbc` (COIN-OR branch and cut): an LP
/// file goes in, a solution file comes out, nothing is linked.
struct PackingProgram {
    std::span<const WeighedPiece> pieces;
    const MicroBatchLimits& limits;
    std::size_t bins = 0;
    std::optional<std::int64_t> placedTokens;  ///< absent: place the most tokens; else place these, and the
                                               ///< heaviest bin shall hold the fewest pairs
    const BinAssignment& start;                ///< a feasible answer
};

struct ProgramAnswer {
    BinAssignment assignment;
    bool proven = false;  ///< the best there is
};

/// Where the program is, or nothing when it is not in PATH.
std::optional<std::string> findSolver();

/// Runs the solver for at most `seconds` in a folder of its own, which is removed again; nothing when it
/// ended without an answer that keeps the limits. Throws Error (WorkFailed) when it cannot be started.
std::optional<ProgramAnswer> solve(const PackingProgram& program, double seconds);

}  // namespace ballast
