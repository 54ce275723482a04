// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/cost_model.h"
#include "core/job/scenario.h"
#include "core/workload/document_stream.h"

namespace ballast {

/// The pieces that go through the pipeline together. Empty ones stay in the list and are left out of the
/// action lists.
struct MicroBatch {
    int dp = 0;
    int index = 0;              ///< place in the pipeline's order on its dp rank
    std::vector<Piece> pieces;  ///< in packed order, which sharding uses
    std::int64_t tokens = 0;
    double work = 0;  ///< sum of CostModel::pieceWork
};

enum class StepKind { Full, Partial, Drain };
std::string_view stepKindName(StepKind kind);

/// What still waits after a step.
struct Carried {
    std::int64_t documents = 0;
    std::int64_t queuedTokens = 0;
    std::int64_t remainedTokens = 0;
};

struct PackedStep {
    std::int64_t step = 0;
    StepKind kind = StepKind::Full;
    std::vector<MicroBatch> microBatches;  ///< N, sorted by (dp, index)
    Carried carried;
    double packMilliseconds = 0;
};

/// Pieces -> micro-batches, planner.md sections 4 and 5. Stateful across steps: batches in order, then drain
/// until nothing is left.
class Packer {
  public:
    virtual ~Packer() = default;

    /// The steps that this batch completes: one for most packers; a pooling packer gives none until its pool
    /// is full, then several.
    virtual std::vector<PackedStep> pack(const GlobalBatch& batch) = 0;
    /// The next step without new pieces, or nothing when no piece waits. Call until it gives nothing.
    virtual std::optional<PackedStep> drain() = 0;
    /// Pieces that wait now, for the delay of tokens still waiting.
    virtual std::vector<Piece> waiting() const = 0;
    /// Harmless facts a person should know ("no thresholds within the delay budget; took the least delay").
    virtual std::vector<std::string> notices() const { return {}; }
};

/// Numbers that `auto` stands for, once chosen.
struct PackingConstants {
    std::vector<std::int64_t> thresholds;
    std::int64_t maxTokens = 0;

    bool operator==(const PackingConstants&) const = default;
};

struct PackerSetup {
    const Scenario& scenario;
    const CostModel& cost;
    PackingConstants constants;
};

/// By scenario.packing.strategy. Throws Error naming the key for an unknown or unbuilt strategy, or
/// max_tokens below the longest piece.
std::unique_ptr<Packer> makePacker(const PackerSetup& setup);
std::vector<std::string_view> packerNames();

/// S_max and thresholds for a scenario: given values, or the tuned ones (planner.md section 5,
/// threshold_tuner). `source` is read from its start.
struct ChosenPacking {
    PackingConstants constants;
    std::vector<std::string> notices;
};
ChosenPacking choosePackingConstants(const Scenario& scenario, const CostModel& cost,
                                     const LengthSource& source);

}  // namespace ballast
