// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/plan/plan.h"

namespace ballast {

/// JSON Lines (PLAN_FORMAT.md): a header with scenario, model, cluster and chosen constants, a line a step, a
/// last line with the discards and the number of steps, whose absence means a torn file. Written under a
/// temporary name; `finish` renames.
class PlanWriter {
  public:
    PlanWriter(std::filesystem::path file, const PlanHeader& header);
    ~PlanWriter();
    PlanWriter(const PlanWriter&) = delete;
    PlanWriter& operator=(const PlanWriter&) = delete;

    void write(const PlanStep& step);
    void finish(const std::vector<Discard>& discards);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Reads a plan as a stream and validates each step (plan_validation.h): throws Error with file, line and
/// what was expected.
class PlanReader {
  public:
    explicit PlanReader(const std::filesystem::path& file);
    ~PlanReader();
    PlanReader(PlanReader&&) noexcept;

    const PlanHeader& header() const;
    std::optional<PlanStep> next();
    /// After the last step.
    const std::vector<Discard>& discards() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// True when the file starts like a plan rather than a scenario.
bool looksLikePlan(const std::filesystem::path& file);

}  // namespace ballast
