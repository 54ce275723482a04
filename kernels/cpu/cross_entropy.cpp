// SPDX-License-Identifier: Apache-2.0
#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "kernels/cpu/loops.h"

namespace ballast::kernels {
namespace {

void checkRows(VocabularyRange range, const CrossEntropyRows& rows, std::span<const float> logits) {
    check(range.size() >= 0 && rows.targets.size() == rows.rowMaximum.size() &&
              std::ssize(logits) == std::ssize(rows.targets) * range.size(),
          "crossEntropy: sizes of logits, targets and maxima");
}

}  // namespace

void crossEntropyMaximum(VocabularyRange range, std::span<const float> logits, std::span<float> rowMaximum) {
    check(range.size() >= 0 && std::ssize(logits) == std::ssize(rowMaximum) * range.size(),
          "crossEntropyMaximum: sizes");
    for (std::int64_t t = 0; t < std::ssize(rowMaximum); ++t) {
        rowMaximum[t] = loops().maximum(logits.data() + t * range.size(), range.size());
    }
}

void crossEntropySums(VocabularyRange range, const CrossEntropyRows& rows, std::span<const float> logits,
                      std::span<float> sumExp, std::span<float> targetLogit) {
    checkRows(range, rows, logits);
    check(sumExp.size() == rows.targets.size() && targetLogit.size() == rows.targets.size(),
          "crossEntropySums: sizes");
    for (std::int64_t t = 0; t < std::ssize(rows.targets); ++t) {
        const float* row = logits.data() + t * range.size();
        sumExp[t] = loops().sumOfExp(row, range.size(), rows.rowMaximum[t]);
        const std::int64_t target = rows.targets[t];
        targetLogit[t] = range.contains(target) ? row[target - range.begin] : 0.0F;
    }
}

double crossEntropyLoss(const CrossEntropyRows& rows, std::span<const float> sumExp,
                        std::span<const float> targetLogit) {
    check(rows.targets.size() == rows.rowMaximum.size() && sumExp.size() == rows.targets.size() &&
              targetLogit.size() == rows.targets.size(),
          "crossEntropyLoss: sizes");
    double loss = 0.0;
    for (std::int64_t t = 0; t < std::ssize(rows.targets); ++t) {
        if (rows.targets[t] != kNoTarget) {
            loss += static_cast<double>(rows.rowMaximum[t]) + std::log(static_cast<double>(sumExp[t])) -
                    static_cast<double>(targetLogit[t]);
        }
    }
    return loss;
}

void crossEntropyGradient(VocabularyRange range, const CrossEntropyRows& rows, std::span<const float> sumExp,
                          float scale, std::span<float> logits) {
    checkRows(range, rows, logits);
    check(sumExp.size() == rows.targets.size(), "crossEntropyGradient: sizes");
    for (std::int64_t t = 0; t < std::ssize(rows.targets); ++t) {
        float* row = logits.data() + t * range.size();
        const std::int64_t target = rows.targets[t];
        if (target == kNoTarget) {
            std::fill_n(row, range.size(), 0.0F);
            continue;
        }
        loops().scaledExp(row, range.size(), rows.rowMaximum[t], scale / sumExp[t]);
        if (range.contains(target)) {
            row[target - range.begin] -= scale;
        }
    }
}

}  // namespace ballast::kernels
