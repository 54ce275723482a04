// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/comm/transport.h"
#include "backend/trainer/trainer.h"
#include "core/plan/plan.h"

namespace ballast::backend::testing {

/// Micro-batches of a step as piece lengths, before they are dealt; every piece is a document of its own
/// except where `sameDocument` joins all pieces of a micro-batch into one cut document.
using StepLengths = std::vector<std::vector<std::int64_t>>;

/// One list of micro-batches, trained under some layout: each layout deals and shards the same list.
struct TrainingCase {
    ModelSpec model;
    Layout layout;
    std::string sharding = "per-document";
    std::string exchange = "all-gather";
    std::vector<StepLengths> steps;
    bool sameDocument = false;
    bool numberMicroBatches = true;  ///< a number is left out after each micro-batch
    Clock clock = Clock::Virtual;
    std::optional<PlantedDelay> delay;
    TrainingOptions training;
};

/// 4 layers, hidden 32, 4 heads, 2 kv heads, vocabulary 96: small enough for a double reference.
ModelSpec smallModel();
/// smallModel, `steps` times the same four micro-batches of very different pieces.
TrainingCase smallCase(const Layout& layout, int steps = 1);

using FloatTensors = std::map<std::string, std::vector<float>>;

struct TrainingResult {
    std::vector<StepReport> reports;                    ///< of world rank 0
    std::vector<FloatTensors> gradients;                ///< a step, whole tensors
    std::vector<std::vector<std::vector<Span>>> spans;  ///< step, rank
    FloatTensors initialWeights;
    FloatTensors finalWeights;
    double loss(std::size_t step) const {
        return reports[step].lossSum / static_cast<double>(reports[step].targets);
    }
};

/// All ranks as threads.
TrainingResult train(const TrainingCase& trainingCase);
/// This rank's part over any transport; tensors are there on rank 0 alone, spans of this rank alone.
TrainingResult trainRank(const TrainingCase& trainingCase, Transport& transport);

/// Micro-batch j of each step goes to dp rank j mod dp, sharded by the case's strategy.
std::vector<PlanStep> planOf(const TrainingCase& trainingCase, const CostModel& cost);
CostModel costOf(const TrainingCase& trainingCase);
Scenario scenarioOf(const TrainingCase& trainingCase);

/// Token `offset` of a document: any fixed function will do.
std::int64_t tokenAt(std::int64_t document, std::int64_t offset, std::int64_t vocabulary);

/// tokenAt as a source.
std::unique_ptr<TokenSource> patternTokens(std::int64_t vocabulary);

/// |a - b| / |b|, 2-norms; infinite when b is zero and a is not.
double relativeDifference(const std::vector<float>& a, const std::vector<float>& b);
/// The largest over all tensors, and which.
struct WorstDifference {
    double value = 0;
    std::string tensor;
};
WorstDifference worstDifference(const FloatTensors& found, const FloatTensors& expected);

}  // namespace ballast::backend::testing
