// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/packing/packer.h"
#include "core/workload/length_source.h"

namespace ballast::testing {

/// Document lengths given in the test.
class GivenLengths final : public LengthSource {
  public:
    explicit GivenLengths(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)) {}

    std::optional<std::int64_t> documents() const override { return sampleDocuments(); }
    std::int64_t sampleDocuments() const override { return static_cast<std::int64_t>(lengths_.size()); }
    std::int64_t length(std::int64_t document) const override {
        return lengths_[static_cast<std::size_t>(document)];
    }
    std::string description() const override { return "given in a test"; }

  private:
    std::vector<std::int64_t> lengths_;
};

struct PackingCase {
    std::string strategy = "wlb";
    std::int64_t window = 16;
    int dp = 1;
    int microBatches = 2;
    std::vector<std::int64_t> thresholds = {};
    std::int64_t maxTokens = 0;  ///< 0: two windows
    int batches = 1;
    std::int64_t crossover = 64;
};

/// Quadratic cost, source order, cut at window borders.
Scenario scenarioOf(const PackingCase& packingCase);
/// The cost model of a scenario with the tiny model on the tiny cluster.
CostModel costOf(const Scenario& scenario);

/// Pieces of these lengths as one global batch, document i of the list with id firstDocument + i.
GlobalBatch batchOf(std::vector<std::int64_t> lengths, std::int64_t step = 0, std::int64_t firstDocument = 0);

/// Everything a packer made of a source.
struct PackedSource {
    std::vector<PackedStep> steps;
    std::vector<Discard> discards;
    std::int64_t empty = 0;
    std::int64_t fullBatches = 0;
};
/// Takes at most `batches` global batches (0: all), then drains.
PackedSource packSource(const Scenario& scenario, const CostModel& cost, const LengthSource& source,
                        const PackingConstants& constants, std::int64_t batches = 0);
/// The constants a PackingCase states.
PackingConstants constantsOf(const PackingCase& packingCase);

std::vector<std::int64_t> lengthsOf(const MicroBatch& microBatch);
/// Lengths of each micro-batch of a step, in (dp, index) order.
std::vector<std::vector<std::int64_t>> lengthsOf(const PackedStep& step);

/// Length sets that packers and sharders trip over; `window` scales them.
struct NamedLengths {
    std::string name;
    std::vector<std::int64_t> lengths;
};
std::vector<NamedLengths> hostileLengths(std::int64_t window);
/// Mostly short, some long, some zero, a few over the window.
std::vector<std::int64_t> randomLengths(std::uint64_t seed, std::int64_t documents, std::int64_t window);

}  // namespace ballast::testing
