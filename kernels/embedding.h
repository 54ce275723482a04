// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace ballast::kernels {

/// The rows of the vocabulary, [begin, end), that a tensor-parallel rank holds.
struct VocabularyRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] std::int64_t size() const { return end - begin; }
    [[nodiscard]] bool contains(std::int64_t id) const { return id >= begin && id < end; }
};

/// out[t] = table[ids[t] - range.begin]; a row of zeros where another rank holds the id, so that the sum over
/// the tensor-parallel ranks is the embedding.
///
/// ids     [tokens]
/// table   [range.size(), width]
/// out     [tokens, width], written
void embeddingForward(VocabularyRange range, std::int64_t width, std::span<const std::int64_t> ids,
                      std::span<const float> table, std::span<float> out);

/// tableGradient[ids[t] - range.begin] += outGradient[t] for the ids inside range, in the order of t.
///
/// outGradient     [tokens, width]
/// tableGradient   [range.size(), width], ADDED to
void embeddingBackward(VocabularyRange range, std::int64_t width, std::span<const std::int64_t> ids,
                       std::span<const float> outGradient, std::span<float> tableGradient);

}  // namespace ballast::kernels
