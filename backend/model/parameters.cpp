// SPDX-License-Identifier: Apache-2.0
#include "backend/model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/random.h"

namespace ballast::backend {

namespace {

/// FNV-1a, so that a tensor's stream follows from its name on every machine.
std::uint64_t hashOf(std::string_view name) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (char letter : name)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    return hash;
}

/// Box-Muller; one number of each pair, so that element i is always draw i.
double normal(Random& random) {
    double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

void addLayer(std::vector<TensorSpec>& specs, const ModelSpec& model, int layer) {
    const std::int64_t hidden = model.hiddenSize;
    const std::int64_t query = model.heads * model.headDim;
    const std::int64_t key = model.kvHeads * model.headDim;
    const std::int64_t inner = model.intermediateSize;
    auto add = [&](const char* part, std::int64_t rows, std::int64_t columns, TensorSplit split,
                   std::int64_t unit = 1) {
        specs.push_back(
            {fmt::format("model.layers.{}.{}.weight", layer, part), rows, columns, split, unit, layer});
    };
    // Whole groups of query heads stay with their key head.
    const std::int64_t group = model.heads / model.kvHeads;
    add("input_layernorm", hidden, 0, TensorSplit::Whole);
    add("self_attn.q_proj", query, hidden, TensorSplit::Rows, group * model.headDim);
    add("self_attn.k_proj", key, hidden, TensorSplit::Rows, model.headDim);
    add("self_attn.v_proj", key, hidden, TensorSplit::Rows, model.headDim);
    add("self_attn.o_proj", hidden, query, TensorSplit::Columns, group * model.headDim);
    add("post_attention_layernorm", hidden, 0, TensorSplit::Whole);
    add("mlp.gate_proj", inner, hidden, TensorSplit::Rows);
    add("mlp.up_proj", inner, hidden, TensorSplit::Rows);
    add("mlp.down_proj", hidden, inner, TensorSplit::Columns);
}

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

Range share(std::int64_t count, std::int64_t unit, int rank, int ranks) {
    const std::int64_t units = count / unit;
    return {units * rank / ranks * unit, units * (rank + 1) / ranks * unit};
}

}  // namespace

std::vector<TensorSpec> tensorSpecs(const ModelSpec& model) {
    std::vector<TensorSpec> specs;
    specs.push_back(
        {"model.embed_tokens.weight", model.vocabularySize, model.hiddenSize, TensorSplit::Rows, 1, -1});
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        addLayer(specs, model, static_cast<int>(layer));
    const int last = static_cast<int>(model.layers);
    specs.push_back({"model.norm.weight", model.hiddenSize, 0, TensorSplit::Whole, 1, last});
    if (!model.tiedEmbeddings)
        specs.push_back(
            {"lm_head.weight", model.vocabularySize, model.hiddenSize, TensorSplit::Rows, 1, last});
    return specs;
}

TensorPart tensorPart(const TensorSpec& spec, int tp, int ranks) {
    TensorPart part{0, spec.rows, 0, std::max<std::int64_t>(spec.columns, 1)};
    if (spec.split == TensorSplit::Rows) {
        Range rows = share(spec.rows, spec.rowUnit, tp, ranks);
        part.rowBegin = rows.begin;
        part.rowEnd = rows.end;
    } else if (spec.split == TensorSplit::Columns) {
        Range columns = share(spec.columns, spec.rowUnit, tp, ranks);
        part.columnBegin = columns.begin;
        part.columnEnd = columns.end;
    }
    return part;
}

RankShape rankShape(const ModelSpec& model, const Layout& layout, int tp) {
    if (model.kvHeads % layout.tp != 0)
        throw Error(fmt::format("layout.tp: {} does not divide the model's num_key_value_heads {}", layout.tp,
                                model.kvHeads));
    if (model.intermediateSize < layout.tp || model.vocabularySize < layout.tp)
        throw Error(fmt::format(
            "layout.tp: {} ranks are more than the model's intermediate_size or vocab_size", layout.tp));
    Range inner = share(model.intermediateSize, 1, tp, layout.tp);
    Range vocabulary = share(model.vocabularySize, 1, tp, layout.tp);
    return {model.hiddenSize, model.heads / layout.tp, model.kvHeads / layout.tp,
            model.headDim,    inner.end - inner.begin, {vocabulary.begin, vocabulary.end}};
}

Parameters::Parameters(const Setup& setup, MemoryArena& arena) {
    const Layout& layout = setup.layout;
    rankShape(setup.model, layout, setup.coordinate.tp);
    BALLAST_CHECK(static_cast<int>(setup.stageLayers.size()) == layout.pp);
    const bool first = setup.coordinate.pp == 0;
    const bool last = setup.coordinate.pp == layout.pp - 1;
    for (int pp = 0; pp < setup.coordinate.pp; ++pp)
        firstLayer_ += setup.stageLayers[static_cast<std::size_t>(pp)];
    const std::int64_t endLayer =
        firstLayer_ + setup.stageLayers[static_cast<std::size_t>(setup.coordinate.pp)];
    for (const TensorSpec& spec : tensorSpecs(setup.model)) {
        const int next = static_cast<int>(tensors_.size());
        if (spec.layer == -1) {
            if (!first && !(last && setup.model.tiedEmbeddings))
                continue;
            hold(spec, setup, !first);
            embedding_ = next;
        } else if (spec.layer == setup.model.layers) {
            if (!last)
                continue;
            hold(spec, setup, false);
            (spec.isMatrix() ? head_ : finalNorm_) = next;
        } else if (spec.layer >= firstLayer_ && spec.layer < endLayer) {
            if (layers_.size() == static_cast<std::size_t>(spec.layer - firstLayer_))
                layers_.push_back(
                    {next, next + 1, next + 2, next + 3, next + 4, next + 5, next + 6, next + 7, next + 8});
            hold(spec, setup, false);
        }
    }
    if (last && setup.model.tiedEmbeddings)
        head_ = embedding_;
    const HeldTensor& end = tensors_.back();
    const auto count = static_cast<std::int64_t>(end.offset + end.count());
    weights_ = arena.take(MemoryClass::Weights, count);
    gradients_ = arena.takeZeros(MemoryClass::Gradients, count);
    firstMoment_ = arena.takeZeros(MemoryClass::Optimizer, count);
    secondMoment_ = arena.takeZeros(MemoryClass::Optimizer, count);
    initialise(setup);
}

void Parameters::hold(const TensorSpec& spec, const Setup& setup, bool isCopy) {
    std::size_t offset = tensors_.empty() ? 0 : tensors_.back().offset + tensors_.back().count();
    tensors_.push_back({spec, tensorPart(spec, setup.coordinate.tp, setup.layout.tp), offset, isCopy});
}

void Parameters::initialise(const Setup& setup) {
    for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
        const HeldTensor& held = tensors_[tensor];
        std::span<float> values = weights(static_cast<int>(tensor));
        if (!held.spec.isMatrix()) {
            std::ranges::fill(values, 1.0F);
            continue;
        }
        const std::uint64_t tensorSeed = Random::stream(setup.seed, hashOf(held.spec.name)).next();
        std::size_t at = 0;
        for (std::int64_t row = held.part.rowBegin; row < held.part.rowEnd; ++row) {
            Random random = Random::stream(tensorSeed, static_cast<std::uint64_t>(row));
            for (std::int64_t column = 0; column < held.part.columnEnd; ++column) {
                double drawn = setup.initStd * normal(random);
                if (column >= held.part.columnBegin)
                    values[at++] = static_cast<float>(drawn);
            }
        }
    }
}

std::span<float> Parameters::values(Kind kind, int tensor) const {
    const HeldTensor& held = tensors_[static_cast<std::size_t>(tensor)];
    const Buffer* all = nullptr;
    switch (kind) {
        case Kind::Weights:
            all = &weights_;
            break;
        case Kind::Gradients:
            all = &gradients_;
            break;
        case Kind::FirstMoment:
            all = &firstMoment_;
            break;
        case Kind::SecondMoment:
            all = &secondMoment_;
            break;
    }
    return all->numbers().subspan(held.offset, held.count());
}

void Parameters::zeroGradients() const {
    std::ranges::fill(gradients_.numbers(), 0.0F);
}

}  // namespace ballast::backend
