// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/model/parameters.h"
#include "backend/trainer/micro_batch_input.h"
#include "backend/trainer/rank_context.h"

namespace ballast::backend {

/// What the head's forward pass keeps for its backward pass; T = local tokens.
struct HeadActivations {
    Buffer input;       ///< [T, hidden]
    Buffer inverseRms;  ///< [T]
    Buffer normed;      ///< [T, hidden]
    Buffer logits;      ///< [T, this rank's part of the vocabulary]
    Buffer rowMaximum;  ///< [T], over all tp ranks
    Buffer sums;        ///< sum of exponentials [T], then the target's logit [T], over all tp ranks
};

/// Final norm, vocabulary-parallel head and cross entropy; the logits are never gathered.
class LanguageHead {
  public:
    struct Setup {
        const RankContext& context;
        const Parameters& parameters;
        const RankShape& shape;
        float normEpsilon;
    };
    explicit LanguageHead(const Setup& setup) : setup_(setup) {}

    /// Takes the hidden states over; returns the summed cross entropy of this rank's targets, the same on all
    /// tp ranks.
    double forward(const MicroBatchInput& input, Buffer hidden, HeadActivations& kept) const;
    /// Gradient of the hidden states [T, hidden] of scale times the summed cross entropy. Uses the logits up.
    Buffer backward(const MicroBatchInput& input, HeadActivations& kept, double scale) const;

  private:
    Setup setup_;
};

}  // namespace ballast::backend
