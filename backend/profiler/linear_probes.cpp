// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <tuple>

#include "backend/profiler/sweep_probe.h"
#include "core/cost/cost_model.h"
#include "core/job/scenario.h"
#include "kernels/adamw.h"
#include "kernels/add.h"
#include "kernels/cross_entropy.h"
#include "kernels/embedding.h"
#include "kernels/matmul.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"
#include "kernels/swiglu.h"

namespace ballast::backend {
namespace {

/// Outputs and inputs of a linear layer.
using Linear = std::pair<std::int64_t, std::int64_t>;

/// The linear layers of a model, whole and halved over two tensor-parallel ranks; query, key and value, and
/// gate and up, both alone and as one product.
std::set<Linear> linearLayers(const ModelSpec& model) {
    std::set<Linear> layers;
    for (const std::int64_t tp : {1, 2}) {
        const std::int64_t queries = std::max<std::int64_t>(1, model.heads / tp) * model.headDim;
        const std::int64_t keys = std::max<std::int64_t>(1, model.kvHeads / tp) * model.headDim;
        const std::int64_t inner = model.intermediateSize / tp;
        for (const std::int64_t outputs :
             {queries, keys, queries + 2 * keys, inner, 2 * inner, model.vocabularySize / tp})
            layers.insert({outputs, model.hiddenSize});
        layers.insert({model.hiddenSize, queries});
        layers.insert({model.hiddenSize, inner});
    }
    return layers;
}

SweepProbe gemmProbe(const kernels::Matmul& product, SweepMemory& memory) {
    memory.reserve(std::max({product.m * product.k, product.k * product.n, product.m * product.n}));
    return {[product, &memory] {
                kernels::matmul(product, memory.input(product.m * product.k),
                                memory.input(product.k * product.n), memory.output(product.m * product.n));
            },
            [product](CalibrationSamples& samples, Seconds time) {
                samples.gemm.push_back({{product.m, product.n, product.k}, time});
            }};
}

/// Tokens of a rank in the swept step: half a window of 4096.
constexpr std::int64_t kStepTokens = 2048;
constexpr std::int64_t kStepMicroBatches = 4;

/// Operands of one element-wise pass over a decoder layer; each call takes fresh windows of memory.
struct LayerPass {
    ModelSpec model;
    SweepMemory* memory;
    std::vector<float> cosine;
    std::vector<float> sine;

    LayerPass(const ModelSpec& shape, SweepMemory& operands) : model(shape), memory(&operands) {
        std::vector<std::int64_t> positions(kStepTokens);
        for (std::size_t i = 0; i < positions.size(); ++i)
            positions[i] = static_cast<std::int64_t>(i);
        cosine.resize(static_cast<std::size_t>(kStepTokens * model.headDim / 2));
        sine.resize(cosine.size());
        kernels::rotaryAngles(positions, model.headDim, model.ropeTheta, cosine, sine);
    }

    void norm(bool backward) const {
        const kernels::RmsNormShape shape{kStepTokens, model.hiddenSize,
                                          static_cast<float>(model.rmsNormEpsilon)};
        const std::int64_t floats = kStepTokens * model.hiddenSize;
        if (backward)
            kernels::rmsNormBackward(shape,
                                     {memory->input(floats), memory->input(model.hiddenSize),
                                      memory->input(kStepTokens), memory->input(floats)},
                                     memory->output(floats), memory->output(model.hiddenSize));
        else
            kernels::rmsNormForward(shape, memory->input(floats), memory->input(model.hiddenSize),
                                    memory->output(floats), memory->output(kStepTokens));
    }
    void turn(kernels::RotaryDirection direction) const {
        for (const std::int64_t heads : {model.heads, model.kvHeads})
            kernels::rotary(direction, heads, model.headDim, cosine, sine,
                            memory->output(kStepTokens * heads * model.headDim));
    }
    void residual() const {
        const std::int64_t floats = kStepTokens * model.hiddenSize;
        kernels::addTo(memory->output(floats), memory->input(floats));
    }

    void layer() const {
        const std::int64_t inner = kStepTokens * model.intermediateSize;
        for (int half = 0; half < 2; ++half) {
            norm(false);
            residual();
            norm(true);
        }
        turn(kernels::RotaryDirection::Forward);
        turn(kernels::RotaryDirection::Inverse);
        kernels::swigluForward(memory->input(inner), memory->input(inner), memory->output(inner));
        kernels::swigluBackward({memory->input(inner), memory->input(inner), memory->input(inner)},
                                memory->output(inner), memory->output(inner));
    }

    void head() const {
        const kernels::VocabularyRange range{0, model.vocabularySize};
        const std::vector<std::int64_t> targets(kStepTokens, 0);
        norm(false);
        const std::span<float> logits = memory->output(kStepTokens * range.size());
        const std::span<float> maximum = memory->output(kStepTokens);
        const std::span<float> sums = memory->output(kStepTokens);
        const std::span<float> hit = memory->output(kStepTokens);
        kernels::crossEntropyMaximum(range, logits, maximum);
        const kernels::CrossEntropyRows rows{targets, maximum};
        kernels::crossEntropySums(range, rows, logits, sums, hit);
        kernels::crossEntropyLoss(rows, sums, hit);
        kernels::crossEntropyGradient(range, rows, sums, 1.0F, logits);
        norm(true);
    }

    void embed() const {
        const kernels::VocabularyRange range{0, model.vocabularySize};
        std::vector<std::int64_t> ids(kStepTokens);
        for (std::size_t i = 0; i < ids.size(); ++i)
            ids[i] = static_cast<std::int64_t>(i) % range.size();
        const std::int64_t table = range.size() * model.hiddenSize;
        const std::int64_t floats = kStepTokens * model.hiddenSize;
        kernels::embeddingForward(range, model.hiddenSize, ids, memory->input(table), memory->output(floats));
        kernels::embeddingBackward(range, model.hiddenSize, ids, memory->input(floats),
                                   memory->output(table));
    }
};

/// Element-wise bytes of each part of a step as the cost model counts them, so that its seconds come out as
/// measured.
struct StepBytes {
    double layer = 0;
    double head = 0;
    double embedding = 0;
    double optimizer = 0;

    explicit StepBytes(const ModelSpec& model) {
        ClusterSpec oneByteASecond;
        oneByteASecond.name = "one byte a second";
        oneByteASecond.peakTflops["fp32"] = 1;
        oneByteASecond.hbmGBps = 1e-9;
        oneByteASecond.attention.emplace_back();
        oneByteASecond.gemm.push_back({1, 1, 1, 1.0});
        Scenario scenario;
        scenario.layout = {1, 1, 1, 1};
        scenario.lengths.window = kStepTokens;
        const CostModel cost(scenario, model, oneByteASecond);
        for (const Direction direction : {Direction::Forward, Direction::Backward}) {
            layer += cost.attentionInput(kStepTokens, direction).elementwise.value() +
                     cost.attentionOutput(kStepTokens, direction).elementwise.value() +
                     cost.feedForward(kStepTokens, direction).elementwise.value();
            head += cost.head(kStepTokens, direction).elementwise.value();
            embedding += cost.embedding(kStepTokens, direction).value();
        }
        optimizer = cost.optimizer(model.parameters()).value();
    }
};

SweepProbe elementwiseProbe(std::function<void()> call, double bytes, std::int64_t timesAStep) {
    return {
        std::move(call), [bytes, timesAStep](CalibrationSamples& samples, Seconds time) {
            const auto times = static_cast<double>(timesAStep);
            samples.elementwise.push_back({Bytes(static_cast<std::int64_t>(bytes * times)), time * times});
        }};
}

}  // namespace

std::vector<SweepProbe> gemmProbes(const ModelSpec& model, SweepMemory& memory) {
    std::vector<SweepProbe> probes;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
    const auto add = [&](const kernels::Matmul& product) {
        if (seen.insert({product.m, product.n, product.k}).second)
            probes.push_back(gemmProbe(product, memory));
    };
    for (const std::int64_t tokens : {64, 256, 1024, 2048, 4096})
        for (const auto& [outputs, inputs] : linearLayers(model)) {
            // Output, gradient of the input and gradient of the weights, as the layers call them.
            add({.m = tokens, .n = outputs, .k = inputs, .transposeB = true});
            add({.m = tokens, .n = inputs, .k = outputs});
            add({.m = outputs, .n = inputs, .k = tokens, .transposeA = true, .accumulate = true});
        }
    for (const std::int64_t side : {256, 512, 1024})
        add({.m = side, .n = side, .k = side, .transposeB = true});
    return probes;
}

std::vector<SweepProbe> memoryProbes(const ModelSpec& model, SweepMemory& memory) {
    memory.reserve(std::max(kStepTokens, model.vocabularySize) *
                   std::max({model.hiddenSize, model.intermediateSize, model.vocabularySize,
                             model.heads * model.headDim}));
    const auto pass = std::make_shared<LayerPass>(model, memory);
    const StepBytes bytes(model);
    std::vector<SweepProbe> probes;
    probes.push_back(
        elementwiseProbe([pass] { pass->layer(); }, bytes.layer, kStepMicroBatches * model.layers));
    probes.push_back(elementwiseProbe([pass] { pass->head(); }, bytes.head, kStepMicroBatches));
    probes.push_back(elementwiseProbe([pass] { pass->embed(); }, bytes.embedding, kStepMicroBatches));

    struct Weights {
        std::vector<float> weights, gradients, first, second;
    };
    const auto held = std::make_shared<Weights>();
    const auto parameters = static_cast<std::size_t>(model.parameters());
    for (std::vector<float>* values : {&held->weights, &held->gradients, &held->first, &held->second})
        values->assign(parameters, 0.5F);
    probes.push_back(elementwiseProbe(
        [held] {
            kernels::sumOfSquares(held->gradients);
            kernels::adamwStep({.rate = 1e-4, .step = 100}, held->gradients,
                               {held->weights, held->first, held->second});
            std::memset(held->gradients.data(), 0, held->gradients.size() * sizeof(float));
        },
        bytes.optimizer, 1));

    constexpr std::int64_t kCopied = std::int64_t{1} << 20;
    memory.reserve(kCopied);
    probes.push_back({[&memory] {
                          const std::span<const float> from = memory.input(kCopied);
                          std::memcpy(memory.output(kCopied).data(), from.data(), from.size_bytes());
                      },
                      [](CalibrationSamples& samples, Seconds time) {
                          constexpr auto kBytes = static_cast<std::int64_t>(kCopied * sizeof(float));
                          samples.copy.push_back({Bytes(kBytes), time});
                      }});
    return probes;
}

}  // namespace ballast::backend
