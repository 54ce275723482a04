// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace ballast::kernels {

/// Attention as its definition says, one query at a time, in double: the slow twin of the kernel.
struct ReferenceAttention {
    std::vector<double> q, k, v;
    std::vector<double> out, logSumExp;
    std::vector<double> qGradient, kGradient, vGradient;

    void forward(const AttentionShape& shape, const std::vector<AttentionBlock>& blocks) {
        out.assign(q.size(), 0.0);
        logSumExp.assign(q.size() / shape.headDim, 0.0);
        forEachQuery(
            shape, blocks, [&](std::int64_t query, std::int64_t head, std::int64_t key, std::int64_t keys) {
                const std::vector<double> weights = softmax(shape, query, head, key, keys);
                for (std::int64_t j = 0; j < keys; ++j) {
                    for (std::int64_t d = 0; d < shape.headDim; ++d) {
                        out[at(shape, query, head) + d] += weights[j] * v[keyAt(shape, key + j, head) + d];
                    }
                }
            });
    }

    /// After forward().
    void backward(const AttentionShape& shape, const std::vector<AttentionBlock>& blocks,
                  const std::vector<double>& outGradient) {
        qGradient.assign(q.size(), 0.0);
        kGradient.assign(k.size(), 0.0);
        vGradient.assign(v.size(), 0.0);
        forEachQuery(
            shape, blocks, [&](std::int64_t query, std::int64_t head, std::int64_t key, std::int64_t keys) {
                const std::vector<double> weights = softmax(shape, query, head, key, keys);
                const std::int64_t row = at(shape, query, head);
                std::vector<double> pull(keys, 0.0);
                double mean = 0.0;
                for (std::int64_t j = 0; j < keys; ++j) {
                    const std::int64_t keyRow = keyAt(shape, key + j, head);
                    for (std::int64_t d = 0; d < shape.headDim; ++d) {
                        pull[j] += outGradient[row + d] * v[keyRow + d];
                        vGradient[keyRow + d] += weights[j] * outGradient[row + d];
                    }
                    mean += weights[j] * pull[j];
                }
                for (std::int64_t j = 0; j < keys; ++j) {
                    const std::int64_t keyRow = keyAt(shape, key + j, head);
                    const double slope = static_cast<double>(shape.scale) * weights[j] * (pull[j] - mean);
                    for (std::int64_t d = 0; d < shape.headDim; ++d) {
                        qGradient[row + d] += slope * k[keyRow + d];
                        kGradient[keyRow + d] += slope * q[row + d];
                    }
                }
            });
    }

  private:
    static std::int64_t at(const AttentionShape& shape, std::int64_t query, std::int64_t head) {
        return (query * shape.heads + head) * shape.headDim;
    }
    static std::int64_t keyAt(const AttentionShape& shape, std::int64_t key, std::int64_t head) {
        return (key * shape.kvHeads + head / (shape.heads / shape.kvHeads)) * shape.headDim;
    }

    template <typename Visit>
    static void forEachQuery(const AttentionShape& shape, const std::vector<AttentionBlock>& blocks,
                             const Visit& visit) {
        for (const AttentionBlock& block : blocks) {
            for (std::int64_t i = 0; i < block.queries; ++i) {
                for (std::int64_t head = 0; head < shape.heads; ++head) {
                    visit(block.queryOffset + i, head, block.keyOffset, block.prefix + i + 1);
                }
            }
        }
    }

    std::vector<double> softmax(const AttentionShape& shape, std::int64_t query, std::int64_t head,
                                std::int64_t key, std::int64_t keys) {
        std::vector<double> weights(keys, 0.0);
        double most = -INFINITY;
        for (std::int64_t j = 0; j < keys; ++j) {
            for (std::int64_t d = 0; d < shape.headDim; ++d) {
                weights[j] += q[at(shape, query, head) + d] * k[keyAt(shape, key + j, head) + d];
            }
            weights[j] *= static_cast<double>(shape.scale);
            most = std::max(most, weights[j]);
        }
        double sum = 0.0;
        for (double& weight : weights) {
            weight = std::exp(weight - most);
            sum += weight;
        }
        for (double& weight : weights) {
            weight /= sum;
        }
        logSumExp[query * shape.heads + head] = most + std::log(sum);
        return weights;
    }
};

}  // namespace ballast::kernels
