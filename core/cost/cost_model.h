// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/cost/attention_cost.h"
#include "core/cost/collective_cost.h"
#include "core/cost/linear_cost.h"
#include "core/job/cluster_spec.h"
#include "core/job/model_spec.h"
#include "core/job/scenario.h"

namespace ballast {

/// Compute seconds of the parts of one decoder layer between its collectives, on one rank, in the order in
/// which the forward runs them; the backward runs them in reverse. Split by span kind.
struct LayerPartSeconds {
    Seconds linear;
    Seconds elementwise;

    Seconds total() const { return linear + elementwise; }
};

/// Predicted seconds of every piece of work of a scenario, one rank's share (heads, columns and vocabulary
/// already divided by tp). Immutable; safe to read from threads. Formulas with sources and errors:
/// core/cost/README.md.
class CostModel {
  public:
    static constexpr int kVersion = 1;  ///< kept with every stored prediction

    /// `pass`: whether workload covers forward and backward, or the forward alone (--cost-pass). Throws Error
    /// (BadInput) naming the key when the layout does not fit the model (tp must divide heads, kv heads,
    /// feed-forward and vocabulary; pp must not exceed the layers; stages must add up to them), the cluster
    /// lacks a figure that is needed, or the quadratic cost has no crossover.
    CostModel(const Scenario& scenario, const ModelSpec& model, const ClusterSpec& cluster,
              CostPass pass = CostPass::Both);

    const ModelSpec& model() const { return model_; }
    const ClusterSpec& cluster() const { return cluster_; }
    const Layout& layout() const { return layout_; }
    CostPass pass() const { return pass_; }
    /// How keys and values travel between cp ranks: the scenario's sharding.exchange.
    std::string_view exchange() const { return scenario_.sharding.exchange; }
    /// "fp32" or "bf16": the scenario's, or for auto bf16 where the cluster states its peak.
    std::string_view precision() const { return precision_; }
    /// Bytes of one activation element: 4 for fp32, 2 for bf16.
    int activationBytes() const;

    /// --- the packers' view: additive over pieces ---
    /// Comparable work of a piece: exact integers d*B + d*d with the quadratic cost (no rounding decides),
    /// else seconds without `d`.
    double pieceWork(std::int64_t length) const;
    /// Workload in seconds (planner.md section 1) of a micro-batch, given the sum of its pieces' pieceWork; 0
    /// for an empty one.
    Seconds workload(double pieceWorkSum) const;
    /// The attention part alone of a piece's workload, for the split bars of the packing view.
    Seconds attentionWorkload(std::int64_t length) const;
    /// Linear part of the workload of one token: the heaviest stage's products, element-wise work and tp and
    /// cp collectives, for a micro-batch of a window, over cp.
    Seconds linearSecondsPerToken() const { return Seconds(linearSecondsPerToken_); }

    /// --- the sharders' and the simulator's view: one rank, one layer ---
    /// One layer's attention kernel call for the slices of one rank; 0 when there are none.
    Seconds attention(std::span<const AttentionBlock> blocks, Direction direction) const;
    /// Norm, query, key and value projections, rotary embedding.
    LayerPartSeconds attentionInput(std::int64_t tokens, Direction direction) const;
    /// Output projection; in the backward also the norm that follows it, which waits for the tp sum.
    LayerPartSeconds attentionOutput(std::int64_t tokens, Direction direction) const;
    /// Residual, norm, gate and up, SwiGLU, down, residual; in the backward without norm and residuals.
    LayerPartSeconds feedForward(std::int64_t tokens, Direction direction) const;
    Seconds embedding(std::int64_t tokens, Direction direction) const;
    /// Final norm, head and cross entropy.
    LayerPartSeconds head(std::int64_t tokens, Direction direction) const;
    /// AdamW over a rank's parameters.
    Seconds optimizer(std::int64_t parameters) const;

    /// --- transfers ---
    Seconds collective(CollectiveOperation operation, Bytes fullTensor,
                       std::span<const int> groupRanks) const;
    Seconds pointToPoint(Bytes bytes, int fromRank, int toRank) const;

    /// Layers of each stage: schedule.stages, or even with the remainder on the earlier stages.
    const std::vector<std::int64_t>& stageLayers() const { return stageLayers_; }
    /// "extrapolated: head_dim 32 from 128", "assumed: backward = 2.5 x forward"; shown beside predictions.
    std::vector<std::string> notices() const;

    /// Relative speed of a rank, 1 = nominal (cluster gpu_speed).
    double speed(int rank) const;

  private:
    /// One product and its two gradients' shapes, by direction.
    Seconds product(std::int64_t tokens, std::int64_t outputs, std::int64_t inputs,
                    Direction direction) const;
    Seconds elementwise(std::int64_t tokens, double elementsPerToken) const;
    double tileWork(std::int64_t length) const;
    void checkLayoutFitsModel() const;
    void chooseStages();
    void chooseAttention();
    void measureLinearPart();

    Scenario scenario_;
    ModelSpec model_;
    ClusterSpec cluster_;
    Layout layout_;
    CostPass pass_;
    std::string precision_;
    double speedup_ = 1;  ///< of the precision over the one the cluster's tables were measured in
    GemmTable gemm_;
    std::vector<std::int64_t> stageLayers_;
    TileConstants forwardTiles_;  ///< for the model's head size and precision
    TileConstants backwardTiles_;
    double headsPerRank_ = 1;
    double workloadLayers_ = 1;  ///< of the stage with most layers
    double linearSecondsPerToken_ = 0;
    double launchSeconds_ = 0;  ///< of a micro-batch's attention calls in that stage
};

}  // namespace ballast
