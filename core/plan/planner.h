// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "core/plan/plan.h"

namespace ballast {

/// Lengths -> packing -> sharding, a step at a time and in bounded memory: what `pack`, `shard`, `simulate`,
/// `plan`, `run` and the studio all use, so that what runs is what was shown. Deterministic for a scenario.
class Planner {
  public:
    /// steps: global batches to take (formats.md, --steps); absent: the scenario's steps, else one epoch of a
    /// file, else 20. Then the packer drains. Opens model, cluster and lengths; throws Error for anything
    /// that cannot be planned. `pass`: what the packers' work counts (pack --cost-pass).
    explicit Planner(Scenario scenario, std::optional<std::int64_t> steps = std::nullopt,
                     CostPass pass = CostPass::Both);
    ~Planner();
    Planner(Planner&&) noexcept;

    const PlanHeader& header() const;
    const CostModel& cost() const;
    const LengthSource& source() const;
    /// Discards so far; final once next() has given nothing.
    const std::vector<Discard>& discards() const;
    /// The header's notices, and what the packer has found since ("3 of 9 steps have empty micro-batches"):
    /// final once next() has given nothing.
    std::vector<std::string> notices() const;
    /// Pieces that wait after the last step taken.
    std::vector<Piece> waiting() const;

    /// The next step, drain included, or nothing at the end. Throws Error naming rank, stage and micro-batch
    /// when the step's true peak is over the cluster's memory.
    std::optional<PlanStep> next();
    /// Global batches this planner will take: known for --steps, else absent until the source ends.
    std::optional<std::int64_t> batchesToTake() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// All steps at once.
std::vector<PlanStep> planAll(Planner& planner);

}  // namespace ballast
