// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/model/parameters.h"
#include "backend/trainer/micro_batch_input.h"
#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// Cosines and sines of a micro-batch's positions, shared by all layers of a stage.
struct RotaryTables {
    Buffer cosine;
    Buffer sine;
};

/// What a layer's forward pass keeps for its backward pass; T = local tokens.
struct LayerActivations {
    Buffer input;       ///< [T, hidden]
    Buffer inverseRms;  ///< [T]
    Buffer normed;      ///< [T, hidden]
    Buffer queries;     ///< [T, heads, headDim], rotated
    Buffer keyValues;   ///< keys [T, kvHeads, headDim], rotated, then values
    Buffer attention;   ///< [T, heads, headDim]
    Buffer logSumExp;   ///< [T, heads]
    Buffer middle;      ///< [T, hidden], input + attention output
    Buffer postRms;     ///< [T]
    Buffer postNormed;  ///< [T, hidden]
    Buffer gate;        ///< [T, intermediate]
    Buffer up;          ///< [T, intermediate]
    Buffer activated;   ///< [T, intermediate], silu(gate) * up
};

/// One decoder layer on one rank: RMSNorm, grouped-query attention with rotary embedding, output projection,
/// RMSNorm, SwiGLU, with a residual connection around each half. It follows the operations of
/// layerOperations() in order, so that all ranks meet in the same collectives and the simulator times what
/// happens here.
class TransformerLayer {
  public:
    struct Setup {
        const RankContext& context;
        const Parameters& parameters;
        const RankShape& shape;
        float normEpsilon;
        int index;  ///< of the whole model
        LayerTensors tensors;
    };
    explicit TransformerLayer(const Setup& setup) : setup_(setup) {}

    /// Takes the input over into `kept`; returns the output [T, hidden].
    Buffer forward(const MicroBatchInput& input, const RotaryTables& rotary, Buffer hidden,
                   LayerActivations& kept) const;
    /// gradient: of the output, becomes that of the input. Adds to the weights' gradients.
    void backward(const MicroBatchInput& input, const RotaryTables& rotary, const LayerActivations& kept,
                  std::span<float> gradient) const;

  private:
    Setup setup_;
};

}  // namespace ballast::backend
