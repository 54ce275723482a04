// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ballast {

/// How often each element-wise kernel reads or writes a tensor of the width named, an element of it being
/// read once and written once at most. Element-wise work is timed as these bytes over the cluster's hbmGBps,
/// which calibration measures by the same count. As the trainer runs them; core/cost/README.md.
inline constexpr double kNormForwardTensors = 2;    ///< hidden: x, y
inline constexpr double kNormBackwardTensors = 4;   ///< hidden: x, d y, d x read and written (the residual's)
inline constexpr double kResidualTensors = 3;       ///< hidden: y read and written, x
inline constexpr double kRotaryTensors = 2;         ///< queries and keys: read, written
inline constexpr double kSwigluForwardTensors = 3;  ///< feed-forward: gate, up, product
inline constexpr double kSwigluBackwardTensors = 5;       ///< feed-forward: gate, up, d product; d gate, d up
inline constexpr double kEmbeddingForwardTensors = 2;     ///< hidden: row, output
inline constexpr double kEmbeddingBackwardTensors = 3;    ///< hidden: d output, gradient row read and written
inline constexpr double kCrossEntropyForwardTensors = 2;  ///< vocabulary, fp32: for the maximum, for the sum
inline constexpr double kCrossEntropyBackwardTensors = 2;  ///< vocabulary, fp32: read, rewritten in place
/// Bytes a parameter: gradient read and cleared, weight and both moments read and written; bf16 writes a
/// working copy too.
inline constexpr double kOptimizerBytesFp32 = 32;
inline constexpr double kOptimizerBytesBf16 = 34;

}  // namespace ballast
