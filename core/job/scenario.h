// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/layout.h"

namespace ballast {

enum class OverlongPolicy { Split, Truncate, Drop };
enum class CutPolicy { Window, None };
enum class DocumentOrder { Shuffled, Source };
enum class CostPass { Both, Forward };

struct LengthsOptions {
    std::vector<std::string> source = {"wlb-128k"};  ///< a preset name, or paths, each perhaps with #NAME
    std::int64_t window = 131072;                    ///< tokens
    OverlongPolicy overlong = OverlongPolicy::Split;
    CutPolicy cut = CutPolicy::Window;
    DocumentOrder order = DocumentOrder::Shuffled;
    std::uint64_t seed = 1;
    std::int64_t epochs = 1;

    bool operator==(const LengthsOptions&) const = default;
};

struct ScheduleOptions {
    std::string kind = "1f1b";
    int virtualStages = 1;
    std::optional<std::vector<std::int64_t>>
        stages;  ///< layers a stage; absent: even, earlier stages take the remainder

    bool operator==(const ScheduleOptions&) const = default;
};

struct PackingOptions {
    std::string strategy = "wlb";
    int queues = 2;
    std::optional<std::vector<std::int64_t>> thresholds;  ///< tokens, ascending; absent: auto
    std::optional<std::int64_t> maxTokens;                ///< absent: auto
    double delayBudgetSteps = 0.5;
    int batches = 1;  ///< global batches that `greedy` pools
    double timeLimitSeconds = 10;
    std::int64_t align = 1;
    std::optional<std::int64_t> maxDocuments;

    bool operator==(const PackingOptions&) const = default;
};

struct ShardingOptions {
    std::string strategy = "adaptive";
    std::string exchange = "all-gather";

    bool operator==(const ShardingOptions&) const = default;
};

struct CostOptions {
    std::string model = "calibrated";             ///< or "quadratic"
    std::optional<std::int64_t> crossoverTokens;  ///< B of d + d*d/B, needed by "quadratic"

    bool operator==(const CostOptions&) const = default;
};

struct TrainingOptions {
    double learningRate = 3e-4;
    double minLearningRate = 3e-5;
    std::int64_t warmupSteps = 10;
    std::int64_t totalSteps = 1000;
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    double weightDecay = 0.1;
    double clipNorm = 1.0;
    std::uint64_t seed = 1;
    double initStd = 0.02;

    bool operator==(const TrainingOptions&) const = default;
};

/// Everything a person chooses before planning; the JSON of formats.md, in the same order and with the same
/// defaults.
struct Scenario {
    LengthsOptions lengths;
    std::string model = "llama2-7b";
    std::string cluster = "h100-dgx";
    Layout layout{8, 2, 1, 4};
    int microBatches = 4;
    std::optional<std::int64_t> steps;
    ScheduleOptions schedule;
    PackingOptions packing;
    ShardingOptions sharding;
    CostOptions cost;
    std::string recompute = "none";
    int zero = 0;
    std::string precision = "auto";
    TrainingOptions training;

    bool operator==(const Scenario&) const = default;

    /// N = dp * micro_batches: micro-batches of a global batch.
    int microBatchesPerStep() const { return layout.dp * microBatches; }
};

/// Parses scenario JSON. `source` names the text in errors. Relative paths in lengths.source, model and
/// cluster that exist beside `directory` are resolved against it. Unknown keys, wrong types and values out of
/// range throw Error with file, key path, what was found and the nearest or allowed values.
Scenario parseScenario(std::string_view json, std::string_view source,
                       const std::filesystem::path& directory = {});
Scenario loadScenario(const std::filesystem::path& file);

/// Applies `packing.strategy=greedy`; the value is JSON, or a bare string. Same errors as parsing.
void setScenarioValue(Scenario& scenario, std::string_view assignment);

/// Several in turn, checked together at the end (checkScenario); on an error the scenario is untouched.
void setScenarioValues(Scenario& scenario, const std::vector<std::string>& assignments);

/// Throws Error for values that are right one by one and not together (world size, queues and thresholds,
/// stages and pp, ...). Parsing, setScenarioValues and refuseUnbuilt end with it; setScenarioValue does not,
/// since two keys may have to change together.
void checkScenario(const Scenario& scenario, std::string_view source);

/// The whole scenario with every default written out; parseScenario gives the same value back.
std::string scenarioJson(const Scenario& scenario);

/// Refuses by key name what is accepted in the file but not built yet (formats.md: "Nothing is silently
/// ignored"). `command` stands in front of the sentence: "run: recompute=selective is not built yet; use
/// none".
void refuseUnbuilt(const Scenario& scenario, std::string_view command);

}  // namespace ballast
