// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ballast {

/// The shapes of a Llama-style decoder, as a Hugging Face config.json states them.
struct ModelSpec {
    std::string name;
    std::int64_t hiddenSize = 0;
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t intermediateSize = 0;
    std::int64_t vocabularySize = 0;
    double ropeTheta = 10000.0;
    double rmsNormEpsilon = 1e-5;
    bool tiedEmbeddings = false;

    bool operator==(const ModelSpec&) const = default;

    /// Parameters of the decoder layers' matrices (QKV, output, gate, up, down) of one layer.
    std::int64_t matmulParametersPerLayer() const {
        return hiddenSize * (heads + 2 * kvHeads) * headDim + heads * headDim * hiddenSize +
               3 * hiddenSize * intermediateSize;
    }
    /// Parameters that take part in a matrix product: the layers' matrices and the head (planner.md section
    /// 3, mfu).
    std::int64_t matmulParameters() const {
        return layers * matmulParametersPerLayer() + hiddenSize * vocabularySize;
    }
    /// All parameters: embedding (counted once when tied), layers with their two norms, final norm, head.
    std::int64_t parameters() const {
        return layers * (matmulParametersPerLayer() + 2 * hiddenSize) + hiddenSize +
               (tiedEmbeddings ? 1 : 2) * hiddenSize * vocabularySize;
    }
};

/// Reads a preset by name, or a config.json by path.
/// Throws Error (BadInput) naming the file and the key when a needed key is missing, has a wrong type or
/// value, or asks for what is not built (rope_scaling, attention_bias, mlp_bias, hidden_act other than silu,
/// ...).
ModelSpec loadModelSpec(std::string_view presetOrPath);

/// The same from the text of a config.json; `source` names it in errors.
ModelSpec parseModelSpec(std::string_view json, std::string_view source);

std::vector<std::string> modelPresetNames();

}  // namespace ballast
