// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/embedding.h"

namespace ballast::kernels {

/// Cross entropy of logits whose vocabulary is split over the tensor-parallel ranks, in four steps with the
/// caller's all-reduces between them; the logits are never gathered:
///   1. crossEntropyMaximum     then all-reduce (max) rowMaximum
///   2. crossEntropySums        then all-reduce (sum) sumExp and targetLogit
///   3. crossEntropyLoss        the same on every rank
///   4. crossEntropyGradient    turns the rank's logits into their gradient
/// Logits are [tokens, range.size()], the per-token arrays [tokens]. A target of -1 means that a token has
/// none. source: Megatron-LM (Shoeybi et al. 2019), section 3, the fused parallel cross entropy

inline constexpr std::int64_t kNoTarget = -1;

/// rowMaximum[t] = largest logit of row t on this rank (-infinity for an empty range).
void crossEntropyMaximum(VocabularyRange range, std::span<const float> logits, std::span<float> rowMaximum);

struct CrossEntropyRows {
    std::span<const std::int64_t> targets;  ///< ids of the whole vocabulary, or kNoTarget
    std::span<const float> rowMaximum;      ///< over all ranks
};

/// sumExp[t] = sum over this rank's columns of exp(logit - rowMaximum[t]);
/// targetLogit[t] = the target's logit where this rank holds it, else 0.
void crossEntropySums(VocabularyRange range, const CrossEntropyRows& rows, std::span<const float> logits,
                      std::span<float> sumExp, std::span<float> targetLogit);

/// Sum over the tokens with a target of rowMaximum + log(sumExp) - targetLogit (each over all ranks), in
/// double, nats.
double crossEntropyLoss(const CrossEntropyRows& rows, std::span<const float> sumExp,
                        std::span<const float> targetLogit);

/// logits[t, i] = scale * (exp(logit - rowMaximum[t]) / sumExp[t] - [i is the target]), in place; a row of
/// zeros for a token without target. scale is 1 / targets of the step.
void crossEntropyGradient(VocabularyRange range, const CrossEntropyRows& rows, std::span<const float> sumExp,
                          float scale, std::span<float> logits);

}  // namespace ballast::kernels
