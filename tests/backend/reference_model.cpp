// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/reference_model.h"

#include <cmath>

namespace ballast::backend::testing {

namespace {

/// [rows, columns], row-major.
struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<double> values;

    Matrix() = default;
    Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
    double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * columns + c)]; }
    double at(std::int64_t r, std::int64_t c) const {
        return values[static_cast<std::size_t>(r * columns + c)];
    }
};

/// x W^T with W [out, in].
Matrix apply(const Matrix& x, const std::vector<double>& weight, std::int64_t out) {
    Matrix y(x.rows, out);
    for (std::int64_t t = 0; t < x.rows; ++t)
        for (std::int64_t o = 0; o < out; ++o)
            for (std::int64_t i = 0; i < x.columns; ++i)
                y.at(t, o) += x.at(t, i) * weight[static_cast<std::size_t>(o * x.columns + i)];
    return y;
}

/// Adds to the gradients of x and of W.
void applyBackward(const Matrix& x, const std::vector<double>& weight, const Matrix& yGradient,
                   Matrix& xGradient, std::vector<double>& weightGradient) {
    for (std::int64_t t = 0; t < x.rows; ++t)
        for (std::int64_t o = 0; o < yGradient.columns; ++o)
            for (std::int64_t i = 0; i < x.columns; ++i) {
                const auto w = static_cast<std::size_t>(o * x.columns + i);
                xGradient.at(t, i) += yGradient.at(t, o) * weight[w];
                weightGradient[w] += yGradient.at(t, o) * x.at(t, i);
            }
}

double rmsOf(const Matrix& x, std::int64_t row, double epsilon) {
    double squares = 0;
    for (std::int64_t i = 0; i < x.columns; ++i)
        squares += x.at(row, i) * x.at(row, i);
    return std::sqrt(squares / static_cast<double>(x.columns) + epsilon);
}

Matrix norm(const Matrix& x, const std::vector<double>& weight, double epsilon) {
    Matrix y(x.rows, x.columns);
    for (std::int64_t t = 0; t < x.rows; ++t) {
        const double rms = rmsOf(x, t, epsilon);
        for (std::int64_t i = 0; i < x.columns; ++i)
            y.at(t, i) = weight[static_cast<std::size_t>(i)] * x.at(t, i) / rms;
    }
    return y;
}

void normBackward(const Matrix& x, const std::vector<double>& weight, double epsilon, const Matrix& yGradient,
                  Matrix& xGradient, std::vector<double>& weightGradient) {
    for (std::int64_t t = 0; t < x.rows; ++t) {
        const double rms = rmsOf(x, t, epsilon);
        double dot = 0;
        for (std::int64_t i = 0; i < x.columns; ++i) {
            const double scaled = yGradient.at(t, i) * weight[static_cast<std::size_t>(i)];
            dot += scaled * x.at(t, i);
            weightGradient[static_cast<std::size_t>(i)] += yGradient.at(t, i) * x.at(t, i) / rms;
        }
        const double correction = dot / (static_cast<double>(x.columns) * rms * rms * rms);
        for (std::int64_t i = 0; i < x.columns; ++i)
            xGradient.at(t, i) +=
                yGradient.at(t, i) * weight[static_cast<std::size_t>(i)] / rms - correction * x.at(t, i);
    }
}

/// direction 1 rotates, -1 rotates back.
void rotate(Matrix& x, std::int64_t headDim, double theta, double direction) {
    const std::int64_t half = headDim / 2;
    for (std::int64_t t = 0; t < x.rows; ++t)
        for (std::int64_t head = 0; head < x.columns / headDim; ++head)
            for (std::int64_t i = 0; i < half; ++i) {
                const double angle =
                    direction * static_cast<double>(t) *
                    std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(headDim));
                double& first = x.at(t, head * headDim + i);
                double& second = x.at(t, head * headDim + i + half);
                const double turned = first * std::cos(angle) - second * std::sin(angle);
                second = first * std::sin(angle) + second * std::cos(angle);
                first = turned;
            }
}

struct AttentionState {
    Matrix q, k, v, out;
    std::vector<Matrix> probabilities;  ///< a head
};

void attention(const ModelSpec& model, AttentionState& state) {
    const std::int64_t tokens = state.q.rows;
    const std::int64_t dim = model.headDim;
    const double scale = 1 / std::sqrt(static_cast<double>(dim));
    state.out = Matrix(tokens, model.heads * dim);
    for (std::int64_t head = 0; head < model.heads; ++head) {
        const std::int64_t shared = head / (model.heads / model.kvHeads);
        Matrix p(tokens, tokens);
        for (std::int64_t t = 0; t < tokens; ++t) {
            double sum = 0;
            for (std::int64_t s = 0; s <= t; ++s) {
                double score = 0;
                for (std::int64_t i = 0; i < dim; ++i)
                    score += state.q.at(t, head * dim + i) * state.k.at(s, shared * dim + i);
                p.at(t, s) = std::exp(score * scale);
                sum += p.at(t, s);
            }
            for (std::int64_t s = 0; s <= t; ++s) {
                p.at(t, s) /= sum;
                for (std::int64_t i = 0; i < dim; ++i)
                    state.out.at(t, head * dim + i) += p.at(t, s) * state.v.at(s, shared * dim + i);
            }
        }
        state.probabilities.push_back(std::move(p));
    }
}

void attentionBackward(const ModelSpec& model, const AttentionState& state, const Matrix& outGradient,
                       AttentionState& gradient) {
    const std::int64_t tokens = state.q.rows;
    const std::int64_t dim = model.headDim;
    const double scale = 1 / std::sqrt(static_cast<double>(dim));
    for (std::int64_t head = 0; head < model.heads; ++head) {
        const std::int64_t shared = head / (model.heads / model.kvHeads);
        const Matrix& p = state.probabilities[static_cast<std::size_t>(head)];
        for (std::int64_t t = 0; t < tokens; ++t) {
            std::vector<double> pGradient(static_cast<std::size_t>(t + 1));
            double dot = 0;
            for (std::int64_t s = 0; s <= t; ++s) {
                double& g = pGradient[static_cast<std::size_t>(s)];
                for (std::int64_t i = 0; i < dim; ++i) {
                    const double o = outGradient.at(t, head * dim + i);
                    g += o * state.v.at(s, shared * dim + i);
                    gradient.v.at(s, shared * dim + i) += p.at(t, s) * o;
                }
                dot += g * p.at(t, s);
            }
            for (std::int64_t s = 0; s <= t; ++s) {
                const double score = p.at(t, s) * (pGradient[static_cast<std::size_t>(s)] - dot) * scale;
                for (std::int64_t i = 0; i < dim; ++i) {
                    gradient.q.at(t, head * dim + i) += score * state.k.at(s, shared * dim + i);
                    gradient.k.at(s, shared * dim + i) += score * state.q.at(t, head * dim + i);
                }
            }
        }
    }
}

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

struct Layer {
    std::string prefix;
    Matrix input, normed, middle, postNormed, gate, up, activated;
    AttentionState attention;
};

class Piece {
  public:
    Piece(const ModelSpec& model, const Tensors& weights, const std::vector<std::int64_t>& ids,
          ReferenceResult& result)
        : model_(model), weights_(weights), ids_(ids), result_(result) {}

    void run() {
        for (const auto& [name, values] : weights_)
            result_.gradients[name].resize(values.size());
        const auto tokens = static_cast<std::int64_t>(ids_.size());
        Matrix x(tokens, model_.hiddenSize);
        for (std::int64_t t = 0; t < tokens; ++t)
            for (std::int64_t i = 0; i < model_.hiddenSize; ++i)
                x.at(t, i) = w("model.embed_tokens.weight")[embeddingIndex(t, i)];
        for (std::int64_t layer = 0; layer < model_.layers; ++layer)
            x = forward("model.layers." + std::to_string(layer) + ".", x);
        Matrix gradient = loss(x);
        for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
            gradient = backward(*layer, gradient);
        for (std::int64_t t = 0; t < tokens; ++t)
            for (std::int64_t i = 0; i < model_.hiddenSize; ++i)
                g("model.embed_tokens.weight")[embeddingIndex(t, i)] += gradient.at(t, i);
    }

  private:
    const std::vector<double>& w(const std::string& name) const { return weights_.at(name); }
    std::vector<double>& g(const std::string& name) { return result_.gradients.at(name); }
    std::size_t embeddingIndex(std::int64_t t, std::int64_t i) const {
        return static_cast<std::size_t>(ids_[static_cast<std::size_t>(t)] * model_.hiddenSize + i);
    }

    Matrix forward(const std::string& prefix, const Matrix& x) {
        Layer layer;
        layer.prefix = prefix;
        layer.input = x;
        layer.normed = norm(x, w(prefix + "input_layernorm.weight"), model_.rmsNormEpsilon);
        const std::int64_t query = model_.heads * model_.headDim;
        const std::int64_t key = model_.kvHeads * model_.headDim;
        AttentionState& a = layer.attention;
        a.q = apply(layer.normed, w(prefix + "self_attn.q_proj.weight"), query);
        a.k = apply(layer.normed, w(prefix + "self_attn.k_proj.weight"), key);
        a.v = apply(layer.normed, w(prefix + "self_attn.v_proj.weight"), key);
        rotate(a.q, model_.headDim, model_.ropeTheta, 1);
        rotate(a.k, model_.headDim, model_.ropeTheta, 1);
        attention(model_, a);
        layer.middle = apply(a.out, w(prefix + "self_attn.o_proj.weight"), model_.hiddenSize);
        for (std::size_t i = 0; i < x.values.size(); ++i)
            layer.middle.values[i] += x.values[i];
        layer.postNormed =
            norm(layer.middle, w(prefix + "post_attention_layernorm.weight"), model_.rmsNormEpsilon);
        layer.gate = apply(layer.postNormed, w(prefix + "mlp.gate_proj.weight"), model_.intermediateSize);
        layer.up = apply(layer.postNormed, w(prefix + "mlp.up_proj.weight"), model_.intermediateSize);
        layer.activated = layer.gate;
        for (std::size_t i = 0; i < layer.gate.values.size(); ++i)
            layer.activated.values[i] *= sigmoid(layer.gate.values[i]) * layer.up.values[i];
        Matrix out = apply(layer.activated, w(prefix + "mlp.down_proj.weight"), model_.hiddenSize);
        for (std::size_t i = 0; i < out.values.size(); ++i)
            out.values[i] += layer.middle.values[i];
        layers_.push_back(std::move(layer));
        return out;
    }

    Matrix backward(const Layer& layer, const Matrix& outGradient) {
        const std::string& prefix = layer.prefix;
        Matrix activated(layer.activated.rows, layer.activated.columns);
        applyBackward(layer.activated, w(prefix + "mlp.down_proj.weight"), outGradient, activated,
                      g(prefix + "mlp.down_proj.weight"));
        Matrix gate = activated;
        Matrix up = activated;
        for (std::size_t i = 0; i < gate.values.size(); ++i) {
            const double x = layer.gate.values[i];
            const double s = sigmoid(x);
            gate.values[i] *= layer.up.values[i] * s * (1 + x * (1 - s));
            up.values[i] *= x * s;
        }
        Matrix postNormed(layer.middle.rows, layer.middle.columns);
        applyBackward(layer.postNormed, w(prefix + "mlp.gate_proj.weight"), gate, postNormed,
                      g(prefix + "mlp.gate_proj.weight"));
        applyBackward(layer.postNormed, w(prefix + "mlp.up_proj.weight"), up, postNormed,
                      g(prefix + "mlp.up_proj.weight"));
        Matrix middle = outGradient;
        normBackward(layer.middle, w(prefix + "post_attention_layernorm.weight"), model_.rmsNormEpsilon,
                     postNormed, middle, g(prefix + "post_attention_layernorm.weight"));
        const AttentionState& a = layer.attention;
        Matrix attended(a.out.rows, a.out.columns);
        applyBackward(a.out, w(prefix + "self_attn.o_proj.weight"), middle, attended,
                      g(prefix + "self_attn.o_proj.weight"));
        AttentionState gradient{Matrix(a.q.rows, a.q.columns),
                                Matrix(a.k.rows, a.k.columns),
                                Matrix(a.v.rows, a.v.columns),
                                {},
                                {}};
        attentionBackward(model_, a, attended, gradient);
        rotate(gradient.q, model_.headDim, model_.ropeTheta, -1);
        rotate(gradient.k, model_.headDim, model_.ropeTheta, -1);
        Matrix normed(layer.normed.rows, layer.normed.columns);
        applyBackward(layer.normed, w(prefix + "self_attn.q_proj.weight"), gradient.q, normed,
                      g(prefix + "self_attn.q_proj.weight"));
        applyBackward(layer.normed, w(prefix + "self_attn.k_proj.weight"), gradient.k, normed,
                      g(prefix + "self_attn.k_proj.weight"));
        applyBackward(layer.normed, w(prefix + "self_attn.v_proj.weight"), gradient.v, normed,
                      g(prefix + "self_attn.v_proj.weight"));
        Matrix input = middle;
        normBackward(layer.input, w(prefix + "input_layernorm.weight"), model_.rmsNormEpsilon, normed, input,
                     g(prefix + "input_layernorm.weight"));
        return input;
    }

    /// Final norm, head, cross entropy of every token's next one; returns the hidden states' gradient.
    Matrix loss(const Matrix& hidden) {
        const std::string head = model_.tiedEmbeddings ? "model.embed_tokens.weight" : "lm_head.weight";
        const Matrix normed = norm(hidden, w("model.norm.weight"), model_.rmsNormEpsilon);
        Matrix logits = apply(normed, w(head), model_.vocabularySize);
        for (std::int64_t t = 0; t < hidden.rows; ++t) {
            const bool hasTarget = t + 1 < hidden.rows;
            double sum = 0;
            for (std::int64_t v = 0; v < model_.vocabularySize; ++v)
                sum += std::exp(logits.at(t, v));
            if (hasTarget) {
                result_.lossSum += std::log(sum) - logits.at(t, ids_[static_cast<std::size_t>(t + 1)]);
                ++result_.targets;
            }
            for (std::int64_t v = 0; v < model_.vocabularySize; ++v)
                logits.at(t, v) = hasTarget ? std::exp(logits.at(t, v)) / sum : 0.0;
            if (hasTarget)
                logits.at(t, ids_[static_cast<std::size_t>(t + 1)]) -= 1;
        }
        Matrix normedGradient(hidden.rows, hidden.columns);
        applyBackward(normed, w(head), logits, normedGradient, g(head));
        Matrix gradient(hidden.rows, hidden.columns);
        normBackward(hidden, w("model.norm.weight"), model_.rmsNormEpsilon, normedGradient, gradient,
                     g("model.norm.weight"));
        return gradient;
    }

    const ModelSpec& model_;
    const Tensors& weights_;
    const std::vector<std::int64_t>& ids_;
    ReferenceResult& result_;
    std::vector<Layer> layers_;
};

}  // namespace

void addReferencePiece(const ModelSpec& model, const Tensors& weights, const std::vector<std::int64_t>& ids,
                       ReferenceResult& result) {
    Piece(model, weights, ids, result).run();
}

}  // namespace ballast::backend::testing
