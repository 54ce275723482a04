// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/job/json_reader.h"
#include "core/job/presets.h"
#include "core/job/scenario.h"
#include "core/job/scenario_names.h"

namespace ballast {
namespace {

using Keys = std::span<const std::string_view>;

constexpr std::array<std::string_view, 14> kRootKeys = {
    "lengths", "model",    "cluster", "layout",    "micro_batches", "steps",     "schedule",
    "packing", "sharding", "cost",    "recompute", "zero",          "precision", "training"};
constexpr std::array<std::string_view, 7> kLengthsKeys = {"source", "window", "overlong", "cut",
                                                          "order",  "seed",   "epochs"};
constexpr std::array<std::string_view, 4> kLayoutKeys = {"tp", "cp", "dp", "pp"};
constexpr std::array<std::string_view, 3> kScheduleKeys = {"kind", "virtual_stages", "stages"};
constexpr std::array<std::string_view, 9> kPackingKeys = {
    "strategy", "queues",       "thresholds", "max_tokens",   "delay_budget_steps",
    "batches",  "time_limit_s", "align",      "max_documents"};
constexpr std::array<std::string_view, 2> kShardingKeys = {"strategy", "exchange"};
constexpr std::array<std::string_view, 2> kCostKeys = {"model", "crossover_tokens"};
constexpr std::array<std::string_view, 11> kTrainingKeys = {
    "learning_rate", "min_learning_rate", "warmup_steps", "total_steps", "beta1",   "beta2",
    "epsilon",       "weight_decay",      "clip_norm",    "seed",        "init_std"};

struct Section {
    std::string_view name;
    Keys keys;
};
constexpr std::array<Section, 7> kSections = {{{"lengths", kLengthsKeys},
                                               {"layout", kLayoutKeys},
                                               {"schedule", kScheduleKeys},
                                               {"packing", kPackingKeys},
                                               {"sharding", kShardingKeys},
                                               {"cost", kCostKeys},
                                               {"training", kTrainingKeys}}};

/// Refuses unknown keys at both levels; each error may offer a key of another section.
void refuseUnknownKeys(const JsonReader& root) {
    std::vector<std::string> paths(kRootKeys.begin(), kRootKeys.end());
    for (const Section& section : kSections)
        for (std::string_view key : section.keys)
            paths.push_back(fmt::format("{}.{}", section.name, key));
    const std::vector<std::string_view> everywhere(paths.begin(), paths.end());
    root.refuseUnknown(kRootKeys, everywhere);
    for (const Section& section : kSections)
        if (root.has(section.name))
            root.object(section.name).refuseUnknown(section.keys, everywhere);
}

/// A path of the file as the program will open it: beside the file where it is there, else as it stands.
std::string besideFile(const std::string& text, const std::filesystem::path& directory, bool mayNameColumn) {
    if (directory.empty() || text.empty() || std::filesystem::path(text).is_absolute())
        return text;
    std::error_code failure;
    std::string column;
    std::filesystem::path beside = directory / text;
    if (!std::filesystem::exists(beside, failure) && mayNameColumn) {
        const std::size_t hash = text.rfind('#');
        if (hash != std::string::npos && hash > 0) {
            column = text.substr(hash);
            beside = directory / text.substr(0, hash);
        }
    }
    return std::filesystem::exists(beside, failure) ? beside.lexically_normal().string() + column : text;
}

template <class Name>
std::string resolved(const std::string& text, const std::filesystem::path& directory, const Name& isPreset,
                     bool mayNameColumn = false) {
    return isPreset(text) ? text : besideFile(text, directory, mayNameColumn);
}

bool isLengthPreset(const std::string& name) {
    return findPreset(lengthPresetTexts(), name);
}
bool isModelPreset(const std::string& name) {
    return findPreset(modelPresetTexts(), name);
}
bool isClusterPreset(const std::string& name) {
    return name == "this-machine" || findPreset(clusterPresetTexts(), name);
}

std::vector<std::string> readSource(const JsonReader& in, const std::filesystem::path& directory,
                                    const std::vector<std::string>& fallback) {
    constexpr std::size_t kMostSources = 65536;
    const JsonValue* member = in.find("source");
    if (!member)
        return fallback;
    std::vector<std::string> sources;
    if (const std::string* one = member->string()) {
        sources.push_back(*one);
    } else if (const JsonValue::Array* several = member->array()) {
        if (several->empty() || several->size() > kMostSources)
            in.fail(in.pathOf("source"),
                    fmt::format("expected 1 to {} paths, found {}", kMostSources, several->size()));
        for (std::size_t i = 0; i < several->size(); ++i) {
            if (!(*several)[i].string())
                in.fail(fmt::format("{}[{}]", in.pathOf("source"), i),
                        fmt::format("expected a string, found {}", (*several)[i].kind()));
            sources.push_back(*(*several)[i].string());
        }
    } else {
        in.fail(in.pathOf("source"),
                fmt::format("expected a preset, a path or a list of paths, found {} ({})", member->kind(),
                            member->brief()));
    }
    for (std::string& source : sources) {
        if (source.empty())
            in.fail(in.pathOf("source"), "expected a preset or a path, found an empty string");
        source = resolved(source, directory, isLengthPreset, true);
    }
    return sources;
}

void readLengths(const JsonReader& in, const std::filesystem::path& directory, LengthsOptions& lengths) {
    lengths.source = readSource(in, directory, lengths.source);
    lengths.window = in.integer("window", lengths.window, {1, kLargestLength});
    lengths.overlong = static_cast<OverlongPolicy>(
        in.choice("overlong", static_cast<std::size_t>(lengths.overlong), kOverlongNames));
    lengths.cut = static_cast<CutPolicy>(in.choice("cut", static_cast<std::size_t>(lengths.cut), kCutNames));
    lengths.order =
        static_cast<DocumentOrder>(in.choice("order", static_cast<std::size_t>(lengths.order), kOrderNames));
    lengths.seed = in.unsignedInteger("seed", lengths.seed);
    lengths.epochs = in.integer("epochs", lengths.epochs, {1, 1'000'000});
}

void readLayout(const JsonReader& in, Layout& layout) {
    const auto degree = [&](std::string_view key, int fallback) {
        return static_cast<int>(in.integer(key, fallback, {1, kLargestDegree}));
    };
    layout = {degree("tp", layout.tp), degree("cp", layout.cp), degree("dp", layout.dp),
              degree("pp", layout.pp)};
}

std::string readChoice(const JsonReader& in, std::string_view key, const std::string& fallback, Keys names) {
    return in.has(key) ? std::string(names[in.choice(key, 0, names)]) : fallback;
}

void readSchedule(const JsonReader& in, ScheduleOptions& schedule) {
    schedule.kind = readChoice(in, "kind", schedule.kind, kScheduleKinds);
    schedule.virtualStages =
        static_cast<int>(in.integer("virtual_stages", schedule.virtualStages, {1, 1024}));
    if (const JsonValue* stages = in.find("stages"); stages && !stages->isNull())
        schedule.stages = in.integers("stages", {1, 65536}, 65536);
}

std::optional<std::int64_t> readOptional(const JsonReader& in, std::string_view key, std::string_view absent,
                                         Range<std::int64_t> range) {
    const JsonValue* member = in.find(key);
    const bool unset =
        !member || (absent == "null" ? member->isNull() : member->string() && *member->string() == absent);
    if (unset)
        return std::nullopt;
    if (!std::holds_alternative<std::int64_t>(member->data) &&
        !std::holds_alternative<std::uint64_t>(member->data))
        in.fail(in.pathOf(key), fmt::format("expected {} or a whole number, found {} ({})", absent,
                                            member->kind(), member->brief()));
    return in.integer(key, 0, range);
}

void readPacking(const JsonReader& in, PackingOptions& packing) {
    packing.strategy = readChoice(in, "strategy", packing.strategy, kPackingStrategies);
    if (const JsonValue* member = in.find("thresholds")) {
        if (member->array()) {
            packing.thresholds =
                in.integers("thresholds", {1, kLargestLength}, static_cast<std::size_t>(kMostQueues));
            packing.queues = static_cast<int>(packing.thresholds->size());
        } else if (!member->string() || *member->string() != "auto") {
            in.fail(in.pathOf("thresholds"), fmt::format("expected auto or a list of lengths, found {} ({})",
                                                         member->kind(), member->brief()));
        }
    }
    packing.queues = static_cast<int>(in.integer("queues", packing.queues, {0, kMostQueues}));
    packing.maxTokens = readOptional(in, "max_tokens", "auto", {1, kLargestLength});
    packing.delayBudgetSteps = in.number("delay_budget_steps", packing.delayBudgetSteps, {0, 1e6});
    packing.batches = static_cast<int>(in.integer("batches", packing.batches, {1, 65536}));
    packing.timeLimitSeconds = in.number("time_limit_s", packing.timeLimitSeconds, {0.001, 86400});
    packing.align = in.integer("align", packing.align, {1, 65536});
    packing.maxDocuments = readOptional(in, "max_documents", "null", {1, kLargestLength});
}

void readTraining(const JsonReader& in, TrainingOptions& training) {
    constexpr double kBelowOne = 0.9999999999;
    training.learningRate = in.number("learning_rate", training.learningRate, {0, 100});
    training.minLearningRate = in.number("min_learning_rate", training.minLearningRate, {0, 100});
    training.warmupSteps = in.integer("warmup_steps", training.warmupSteps, {0, kLargestLength});
    training.totalSteps = in.integer("total_steps", training.totalSteps, {1, kLargestLength});
    training.beta1 = in.number("beta1", training.beta1, {0, kBelowOne});
    training.beta2 = in.number("beta2", training.beta2, {0, kBelowOne});
    training.epsilon = in.number("epsilon", training.epsilon, {1e-30, 1});
    training.weightDecay = in.number("weight_decay", training.weightDecay, {0, 100});
    training.clipNorm = in.number("clip_norm", training.clipNorm, {1e-30, 1e30});
    training.seed = in.unsignedInteger("seed", training.seed);
    training.initStd = in.number("init_std", training.initStd, {0, 100});
}

Scenario readScenario(const JsonValue& value, std::string_view source,
                      const std::filesystem::path& directory) {
    const JsonReader root(value, source);
    refuseUnknownKeys(root);
    Scenario scenario;
    if (root.has("lengths"))
        readLengths(root.object("lengths"), directory, scenario.lengths);
    scenario.model = resolved(root.text("model", scenario.model), directory, isModelPreset);
    scenario.cluster = resolved(root.text("cluster", scenario.cluster), directory, isClusterPreset);
    if (root.has("layout"))
        readLayout(root.object("layout"), scenario.layout);
    scenario.microBatches =
        static_cast<int>(root.integer("micro_batches", scenario.microBatches, {1, 65536}));
    scenario.steps = readOptional(root, "steps", "null", {0, kLargestLength});
    if (root.has("schedule"))
        readSchedule(root.object("schedule"), scenario.schedule);
    if (root.has("packing"))
        readPacking(root.object("packing"), scenario.packing);
    if (root.has("sharding")) {
        const JsonReader in = root.object("sharding");
        scenario.sharding.strategy =
            readChoice(in, "strategy", scenario.sharding.strategy, kShardingStrategies);
        scenario.sharding.exchange = readChoice(in, "exchange", scenario.sharding.exchange, kExchanges);
    }
    if (root.has("cost")) {
        const JsonReader in = root.object("cost");
        scenario.cost.model = readChoice(in, "model", scenario.cost.model, kCostModels);
        scenario.cost.crossoverTokens = readOptional(in, "crossover_tokens", "null", {1, kLargestLength});
    }
    scenario.recompute = readChoice(root, "recompute", scenario.recompute, kRecomputations);
    scenario.zero = static_cast<int>(root.integer("zero", scenario.zero, {0, 3}));
    scenario.precision = readChoice(root, "precision", scenario.precision, kPrecisions);
    if (root.has("training"))
        readTraining(root.object("training"), scenario.training);
    return scenario;
}

template <class Value>
nlohmann::ordered_json orNull(const std::optional<Value>& value, const char* absent = nullptr) {
    if (value)
        return *value;
    return absent ? nlohmann::ordered_json(absent) : nlohmann::ordered_json();
}

nlohmann::ordered_json trainingJson(const TrainingOptions& training) {
    return {{"learning_rate", training.learningRate},
            {"min_learning_rate", training.minLearningRate},
            {"warmup_steps", training.warmupSteps},
            {"total_steps", training.totalSteps},
            {"beta1", training.beta1},
            {"beta2", training.beta2},
            {"epsilon", training.epsilon},
            {"weight_decay", training.weightDecay},
            {"clip_norm", training.clipNorm},
            {"seed", training.seed},
            {"init_std", training.initStd}};
}

/// Puts `value` at a dotted path of known keys, which may add a last member that has no default.
void putAt(JsonValue& root, std::string_view path, JsonValue value, std::string_view assignment) {
    const std::size_t dot = path.find('.');
    const std::string_view head = path.substr(0, dot);
    JsonValue::Object* members = root.object();
    if (!members)
        throw Error(fmt::format("{}: \"{}\" is inside a value that has no keys", assignment, path));
    const auto found = std::find_if(members->begin(), members->end(),
                                    [&](const auto& member) { return member.first == head; });
    if (dot != std::string_view::npos) {
        if (found != members->end())
            return putAt(found->second, path.substr(dot + 1), std::move(value), assignment);
        JsonValue inner{JsonValue::Object{}};
        putAt(inner, path.substr(dot + 1), std::move(value), assignment);
        members->emplace_back(std::string(head), std::move(inner));
    } else if (found != members->end()) {
        found->second = std::move(value);
    } else {
        members->emplace_back(std::string(head), std::move(value));
    }
}

}  // namespace

Scenario parseScenario(std::string_view json, std::string_view source,
                       const std::filesystem::path& directory) {
    const Scenario scenario = readScenario(parseJson(json, source), source, directory);
    checkScenario(scenario, source);
    return scenario;
}

Scenario loadScenario(const std::filesystem::path& file) {
    const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
    return parseScenario(readTextFile(file), file.string(), directory);
}

void setScenarioValue(Scenario& scenario, std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0)
        throw Error(fmt::format("{}: expected key=value, such as packing.strategy=greedy", assignment));
    const std::string_view path = assignment.substr(0, equals);
    const std::string_view text = assignment.substr(equals + 1);
    if (std::count(path.begin(), path.end(), '.') > 1)
        throw Error(fmt::format("{}: expected a key of one or two names, found \"{}\"", assignment, path));
    JsonValue value;
    try {
        value = parseJson(text, assignment);
    } catch (const Error&) {
        value.data = std::string(text);
    }
    JsonValue root = parseJson(scenarioJson(scenario), "scenario");
    const bool givesQueues = path == "packing.thresholds" && value.array();
    if (givesQueues)
        putAt(root, "packing.queues", JsonValue{static_cast<std::int64_t>(value.array()->size())},
              assignment);
    putAt(root, path, std::move(value), assignment);
    Scenario changed = readScenario(root, assignment, {});
    // Writing it proves that it can be read back: a bare value may hold bytes that are not UTF-8.
    scenarioJson(changed);
    scenario = std::move(changed);
}

void setScenarioValues(Scenario& scenario, const std::vector<std::string>& assignments) {
    Scenario changed = scenario;
    for (const std::string& assignment : assignments)
        setScenarioValue(changed, assignment);
    checkScenario(changed, "scenario");
    scenario = std::move(changed);
}

std::string scenarioJson(const Scenario& scenario) {
    using Json = nlohmann::ordered_json;
    const LengthsOptions& lengths = scenario.lengths;
    const PackingOptions& packing = scenario.packing;
    const auto name = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
    Json root;
    root["lengths"] = {
        {"source", lengths.source.size() == 1 ? Json(lengths.source[0]) : Json(lengths.source)},
        {"window", lengths.window},
        {"overlong", name(kOverlongNames, lengths.overlong)},
        {"cut", name(kCutNames, lengths.cut)},
        {"order", name(kOrderNames, lengths.order)},
        {"seed", lengths.seed},
        {"epochs", lengths.epochs}};
    root["model"] = scenario.model;
    root["cluster"] = scenario.cluster;
    root["layout"] = {{"tp", scenario.layout.tp},
                      {"cp", scenario.layout.cp},
                      {"dp", scenario.layout.dp},
                      {"pp", scenario.layout.pp}};
    root["micro_batches"] = scenario.microBatches;
    root["steps"] = orNull(scenario.steps);
    root["schedule"] = {{"kind", scenario.schedule.kind},
                        {"virtual_stages", scenario.schedule.virtualStages},
                        {"stages", orNull(scenario.schedule.stages)}};
    root["packing"] = {{"strategy", packing.strategy},
                       {"queues", packing.queues},
                       {"thresholds", orNull(packing.thresholds, "auto")},
                       {"max_tokens", orNull(packing.maxTokens, "auto")},
                       {"delay_budget_steps", packing.delayBudgetSteps},
                       {"batches", packing.batches},
                       {"time_limit_s", packing.timeLimitSeconds},
                       {"align", packing.align},
                       {"max_documents", orNull(packing.maxDocuments)}};
    root["sharding"] = {{"strategy", scenario.sharding.strategy}, {"exchange", scenario.sharding.exchange}};
    root["cost"] = {{"model", scenario.cost.model}};
    if (scenario.cost.crossoverTokens)
        root["cost"]["crossover_tokens"] = *scenario.cost.crossoverTokens;
    root["recompute"] = scenario.recompute;
    root["zero"] = scenario.zero;
    root["precision"] = scenario.precision;
    root["training"] = trainingJson(scenario.training);
    try {
        return root.dump(2) + "\n";
    } catch (const nlohmann::json::exception&) {
        throw Error("scenario: expected text in UTF-8 in lengths.source, model and cluster");
    }
}

}  // namespace ballast
