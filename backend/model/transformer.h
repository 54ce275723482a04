// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "backend/model/language_head.h"
#include "backend/model/transformer_layer.h"

namespace ballast::backend {

/// The part of the model that one rank holds: the token embedding on the first stage, the layers of its
/// stage, final norm, head and loss on the last. Keeps the activations of the micro-batches in flight, from
/// their forward to their backward pass, and no others.
class Transformer {
  public:
    Transformer(const RankContext& context, const Parameters& parameters, const RankShape& shape);

    /// targets: of the whole step; the gradients that gather are those of loss sum / targets. 0: no loss.
    void startStep(std::int64_t targets);

    /// received: the previous stage's output [local tokens, hidden], nothing on the first stage. Returns
    /// this stage's output, nothing on the last.
    Buffer forward(const MicroBatchInput& input, Buffer received);
    /// gradient: of this stage's output, nothing on the last stage. Returns that of what was received,
    /// nothing on the first stage.
    Buffer backward(const MicroBatchInput& input, Buffer gradient);

    /// Cross entropies of this rank's targets so far in the step (0 but on the last stage); the same on all
    /// tp ranks.
    double lossSum() const { return lossSum_; }

  private:
    struct InFlight {
        RotaryTables rotary;
        std::vector<LayerActivations> layers;
        HeadActivations head;
    };

    RotaryTables rotaryTables(const MicroBatchInput& input) const;
    Buffer embed(const MicroBatchInput& input) const;
    void embedBackward(const MicroBatchInput& input, const Buffer& gradient) const;

    const RankContext& context_;
    const Parameters& parameters_;
    const RankShape& shape_;
    std::vector<TransformerLayer> layers_;
    LanguageHead head_;
    std::map<int, InFlight> inFlight_;  ///< by micro-batch
    double lossSum_ = 0;
    double lossScale_ = 0;
};

}  // namespace ballast::backend
