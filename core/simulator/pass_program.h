// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/schedule/step_collectives.h"
#include "core/simulator/step_work.h"
#include "core/timeline/span.h"

namespace ballast {

/// The ranks of one stage of one pipeline that the simulator tells apart, by member = lane + lanes * cp. TP
/// ranks behave alike and share one lane, unless the cluster gives them different speeds.
struct StageRanks {
    const Layout& layout;
    int lanes = 1;
    int dp = 0;
    int pp = 0;

    int members() const { return lanes * layout.cp; }
    int cpOf(int member) const { return member / lanes; }
    int rankOf(int member) const { return layout.rankOf({member % lanes, cpOf(member), dp, pp}); }
};

/// One compute kernel or blocking collective of a pass, for all members of a stage.
struct PassOperation {
    bool isCollective = false;
    GroupAxis axis{};  ///< Tensor or Context
    SpanKind kind{};
    std::vector<Nanoseconds> duration;  ///< by member; of a collective: its group's transfer
    std::vector<double> flops;          ///< by member
    std::vector<std::int64_t> bytes;    ///< by member
};

/// A stage's forward or backward of one micro-batch: `before` once, `layer` for each layer, `after` once
/// (embedding and head, on the stages that have them).
struct PassProgram {
    std::vector<PassOperation> before;
    std::vector<PassOperation> layer;
    std::vector<PassOperation> after;
    std::int64_t layers = 0;
};

/// The cost model with its answers kept: the stages and layers of a step ask for the same token counts again
/// and again. One step, one thread.
class PassCosts {
  public:
    explicit PassCosts(const CostModel& cost) : cost_(cost) {}

    const CostModel& model() const { return cost_; }
    /// Attention itself is not a part: zero.
    LayerPartSeconds part(LayerPart part, Direction direction, std::int64_t tokens);

  private:
    const CostModel& cost_;
    std::map<std::tuple<LayerPart, Direction, std::int64_t>, LayerPartSeconds> known_;
};

PassProgram passProgram(PassCosts& costs, const StageRanks& stage, const MicroBatchWork& work,
                        Direction direction, bool freeTransfers);

}  // namespace ballast
