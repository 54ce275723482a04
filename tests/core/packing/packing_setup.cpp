// SPDX-License-Identifier: Apache-2.0
#include "packing_setup.h"

#include <algorithm>

#include "core/base/random.h"
#include "tests/support/builders.h"

namespace ballast::testing {

Scenario scenarioOf(const PackingCase& packingCase) {
    Scenario scenario;
    scenario.lengths.window = packingCase.window;
    scenario.lengths.order = DocumentOrder::Source;
    scenario.layout = {1, 1, packingCase.dp, 1};
    scenario.microBatches = packingCase.microBatches;
    scenario.packing.strategy = packingCase.strategy;
    scenario.packing.batches = packingCase.batches;
    scenario.cost.model = "quadratic";
    scenario.cost.crossoverTokens = packingCase.crossover;
    scenario.precision = "fp32";
    return scenario;
}

CostModel costOf(const Scenario& scenario) {
    return CostModel(scenario, tinyModel(), tinyCluster());
}

GlobalBatch batchOf(std::vector<std::int64_t> lengths, std::int64_t step, std::int64_t firstDocument) {
    GlobalBatch batch;
    batch.step = step;
    for (std::int64_t length : lengths) {
        std::int64_t document = firstDocument + static_cast<std::int64_t>(batch.pieces.size());
        batch.pieces.push_back({document, 0, length, step, document});
        batch.tokens += length;
    }
    return batch;
}

PackedSource packSource(const Scenario& scenario, const CostModel& cost, const LengthSource& source,
                        const PackingConstants& constants, std::int64_t batches) {
    PackedSource packed;
    DocumentStream stream(source, scenario.lengths, scenario.microBatchesPerStep());
    std::unique_ptr<Packer> packer = makePacker({scenario, cost, constants});
    for (std::int64_t taken = 0; batches == 0 || taken < batches; ++taken) {
        std::optional<GlobalBatch> batch = stream.next();
        if (!batch)
            break;
        packed.fullBatches += batch->partial ? 0 : 1;
        for (PackedStep& step : packer->pack(*batch))
            packed.steps.push_back(std::move(step));
    }
    while (std::optional<PackedStep> step = packer->drain())
        packed.steps.push_back(std::move(*step));
    packed.discards = stream.discards();
    packed.empty = stream.emptyDocuments();
    return packed;
}

PackingConstants constantsOf(const PackingCase& packingCase) {
    return {packingCase.thresholds,
            packingCase.maxTokens == 0 ? 2 * packingCase.window : packingCase.maxTokens};
}

std::vector<std::int64_t> lengthsOf(const MicroBatch& microBatch) {
    std::vector<std::int64_t> lengths;
    for (const Piece& piece : microBatch.pieces)
        lengths.push_back(piece.length());
    return lengths;
}

std::vector<std::vector<std::int64_t>> lengthsOf(const PackedStep& step) {
    std::vector<std::vector<std::int64_t>> lengths;
    for (const MicroBatch& microBatch : step.microBatches)
        lengths.push_back(lengthsOf(microBatch));
    return lengths;
}

std::vector<NamedLengths> hostileLengths(std::int64_t window) {
    using Lengths = std::vector<std::int64_t>;
    Lengths zerosAmong = {0, window, 0, 0, 1, window / 2, 0};
    Lengths alternating;
    for (int i = 0; i < 40; ++i)
        alternating.push_back(i % 2 == 0 ? window : 1);
    Lengths justOver(20, window / 2 + 1);
    return {{"none", {}},
            {"one token", {1}},
            {"all equal", Lengths(50, window / 4)},
            {"all a window", Lengths(17, window)},
            {"one giant", {1000 * window + 7}},
            {"giant among small", {3, 2, 100 * window, 5, 1}},
            {"thousands of ones", Lengths(5000, 1)},
            {"shorter than 2*cp", {1, 2, 3, 1, 2, 3, 5, 7, 1}},
            {"longer than the window", {window + 1, 2 * window, 2 * window + 1, window + window / 2}},
            {"only zeros", Lengths(10, 0)},
            {"zeros among others", zerosAmong},
            {"alternating window and one", alternating},
            {"just over half a window", justOver}};
}

std::vector<std::int64_t> randomLengths(std::uint64_t seed, std::int64_t documents, std::int64_t window) {
    Random random(seed);
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < documents; ++i) {
        auto upTo = [&](std::int64_t bound) {
            return static_cast<std::int64_t>(
                random.below(static_cast<std::uint64_t>(std::max<std::int64_t>(bound, 1))));
        };
        switch (random.below(10)) {
            case 0:
                lengths.push_back(upTo(window + 1));
                break;
            case 1:
                lengths.push_back(window - upTo(3));
                break;
            case 2:
                lengths.push_back(upTo(3 * window));
                break;
            case 3:
                lengths.push_back(0);
                break;
            default:
                lengths.push_back(1 + upTo(window / 8));
        }
    }
    return lengths;
}

}  // namespace ballast::testing
