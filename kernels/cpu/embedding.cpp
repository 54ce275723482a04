// SPDX-License-Identifier: Apache-2.0
#include "kernels/embedding.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {

void embeddingForward(VocabularyRange range, std::int64_t width, std::span<const std::int64_t> ids,
                      std::span<const float> table, std::span<float> out) {
    check(range.size() >= 0 && width > 0 && std::ssize(table) == range.size() * width &&
              std::ssize(out) == std::ssize(ids) * width,
          "embeddingForward: sizes");
    for (std::int64_t t = 0; t < std::ssize(ids); ++t) {
        float* row = out.data() + t * width;
        if (range.contains(ids[t])) {
            std::copy_n(table.data() + (ids[t] - range.begin) * width, width, row);
        } else {
            std::fill_n(row, width, 0.0F);
        }
    }
}

void embeddingBackward(VocabularyRange range, std::int64_t width, std::span<const std::int64_t> ids,
                       std::span<const float> outGradient, std::span<float> tableGradient) {
    check(range.size() >= 0 && width > 0 && std::ssize(tableGradient) == range.size() * width &&
              std::ssize(outGradient) == std::ssize(ids) * width,
          "embeddingBackward: sizes");
    const Loops& loop = loops();
    for (std::int64_t t = 0; t < std::ssize(ids); ++t) {
        if (range.contains(ids[t])) {
            loop.add(tableGradient.data() + (ids[t] - range.begin) * width, outGradient.data() + t * width,
                     width);
        }
    }
}

}  // namespace ballast::kernels
