// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backend/profiler/memory_arena.h"
#include "core/job/layout.h"
#include "core/job/model_spec.h"
#include "kernels/embedding.h"

namespace ballast::backend {

/// How a tensor is cut over the tensor-parallel ranks.
enum class TensorSplit { Whole, Rows, Columns };

/// A tensor of the whole model, with Hugging Face's name and shape.
struct TensorSpec {
    std::string name;
    std::int64_t rows = 0;
    std::int64_t columns = 0;  ///< 0: a vector of `rows`
    TensorSplit split = TensorSplit::Whole;
    std::int64_t rowUnit = 1;  ///< rows that stay together (a head's)
    int layer = -1;            ///< -1: embedding; the number of layers: final norm and head

    bool isMatrix() const { return columns != 0; }
    std::int64_t count() const { return rows * (isMatrix() ? columns : 1); }
};

/// All tensors of a model in the order of the forward pass; a tied head is the embedding and not listed.
std::vector<TensorSpec> tensorSpecs(const ModelSpec& model);

/// The part [rowBegin, rowEnd) x [columnBegin, columnEnd) that tensor-parallel rank `tp` of `ranks` holds.
struct TensorPart {
    std::int64_t rowBegin = 0;
    std::int64_t rowEnd = 0;
    std::int64_t columnBegin = 0;
    std::int64_t columnEnd = 1;

    std::int64_t rows() const { return rowEnd - rowBegin; }
    std::int64_t columns() const { return columnEnd - columnBegin; }
    std::int64_t count() const { return rows() * columns(); }
};
TensorPart tensorPart(const TensorSpec& spec, int tp, int ranks);

/// One rank's part of a tensor and where it lies in the rank's flat arrays.
struct HeldTensor {
    TensorSpec spec;
    TensorPart part;
    std::size_t offset = 0;
    bool isCopy = false;  ///< a tied embedding on the last stage: the first stage's counts

    std::size_t count() const { return static_cast<std::size_t>(part.count()); }
};

/// Indices into Parameters::tensors() of a decoder layer.
struct LayerTensors {
    int inputNorm = 0;
    int query = 0;
    int key = 0;
    int value = 0;
    int output = 0;
    int postNorm = 0;
    int gate = 0;
    int up = 0;
    int down = 0;
};

/// Weights, gradients and AdamW moments of one rank, each one flat fp32 array.
///
/// Initial weights are normal with the given deviation (norms: 1) and depend on the seed and the tensor's
/// name alone, never on the layout: each row of a tensor is a random stream of its own.
class Parameters {
  public:
    struct Setup {
        const ModelSpec& model;
        const Layout& layout;
        Coordinate coordinate;
        const std::vector<std::int64_t>& stageLayers;
        std::uint64_t seed = 1;
        double initStd = 0.02;
    };
    /// Throws Error (BadInput) naming the key when tp does not divide the key/value heads.
    Parameters(const Setup& setup, MemoryArena& arena);

    const std::vector<HeldTensor>& tensors() const { return tensors_; }
    const std::vector<LayerTensors>& layers() const { return layers_; }
    std::int64_t firstLayer() const { return firstLayer_; }
    int embedding() const { return embedding_; }  ///< -1 where it is not held
    int finalNorm() const { return finalNorm_; }
    int head() const { return head_; }  ///< the embedding's index when tied

    enum class Kind { Weights, Gradients, FirstMoment, SecondMoment };
    std::span<float> values(Kind kind, int tensor) const;
    std::span<float> weights(int tensor) const { return values(Kind::Weights, tensor); }
    std::span<float> gradients(int tensor) const { return values(Kind::Gradients, tensor); }
    std::span<float> allGradients() const { return gradients_; }
    void zeroGradients() const;

  private:
    void hold(const TensorSpec& spec, const Setup& setup, bool isCopy);
    void initialise(const Setup& setup);

    std::vector<HeldTensor> tensors_;
    std::vector<LayerTensors> layers_;
    std::int64_t firstLayer_ = 0;
    int embedding_ = -1;
    int finalNorm_ = -1;
    int head_ = -1;
    Buffer weights_;
    Buffer gradients_;
    Buffer firstMoment_;
    Buffer secondMoment_;
};

/// One rank's share of the shapes.
struct RankShape {
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t intermediate = 0;
    kernels::VocabularyRange vocabulary;

    std::int64_t queryWidth() const { return heads * headDim; }
    std::int64_t keyWidth() const { return kvHeads * headDim; }
};
RankShape rankShape(const ModelSpec& model, const Layout& layout, int tp);

}  // namespace ballast::backend
