// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/job/json_reader.h"
#include "core/plan/plan_file.h"
#include "core/plan/plan_lines.h"
#include "core/plan/plan_validation.h"

namespace ballast {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 61;
constexpr std::array<std::string_view, 3> kKinds = {"full", "partial", "drain"};

/// A list of exactly `size` whole numbers of 0 or more.
std::vector<std::int64_t> row(const JsonReader& in, const JsonValue& value, std::string_view path,
                              std::size_t size) {
    const JsonValue::Array* list = value.array();
    if (!list || list->size() != size)
        in.fail(path, fmt::format("expected a list of {} numbers, found {}", size, value.brief()));
    std::vector<std::int64_t> numbers;
    for (const JsonValue& number : *list)
        numbers.push_back(in.integerOf(number, path, {0, kLargest}));
    return numbers;
}

const JsonValue::Array& list(const JsonReader& in, std::string_view key) {
    const JsonValue& value = in.need(key);
    if (!value.array())
        in.fail(in.pathOf(key), fmt::format("expected a list, found {}", value.kind()));
    return *value.array();
}

PlannedMicroBatch readMicroBatch(const JsonReader& in) {
    constexpr std::array<std::string_view, 6> kKeys = {"dp",        "index",    "work",
                                                       "documents", "sharding", "ranks"};
    in.refuseUnknown(kKeys);
    for (std::string_view key : kKeys)
        in.need(key);
    PlannedMicroBatch planned;
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    planned.batch.dp = static_cast<int>(in.integer("dp", 0, {0, kMost}));
    planned.batch.index = static_cast<int>(in.integer("index", 0, {0, kMost}));
    planned.batch.work = in.number("work", 0, {0, std::numeric_limits<double>::max()});
    for (const JsonValue& value : list(in, "documents")) {
        std::vector<std::int64_t> piece = row(in, value, in.pathOf("documents"), 5);
        planned.batch.pieces.push_back({piece[0], piece[1], piece[2], piece[3], piece[4]});
        // The bounds of row() keep this from overflowing; validatePlanStep checks order and sums.
        planned.batch.tokens += planned.batch.pieces.back().length();
        if (planned.batch.tokens < 0 || planned.batch.tokens > kLargest)
            in.fail(in.pathOf("documents"), "expected at most 2^61 tokens");
    }
    planned.sharding.strategy = in.text("sharding", "");
    const std::vector<Piece>& pieces = planned.batch.pieces;
    for (const JsonValue& rank : list(in, "ranks")) {
        if (!rank.array())
            in.fail(in.pathOf("ranks"), fmt::format("expected a list a rank, found {}", rank.kind()));
        Shard& shard = planned.sharding.ranks.emplace_back();
        for (const JsonValue& value : *rank.array()) {
            std::vector<std::int64_t> slice = row(in, value, in.pathOf("ranks"), 3);
            if (slice[0] >= static_cast<std::int64_t>(pieces.size()))
                in.fail(in.pathOf("ranks"),
                        fmt::format("expected a place below {}, found {}", pieces.size(), slice[0]));
            const Piece& piece = pieces[static_cast<std::size_t>(slice[0])];
            shard.push_back({piece.document, slice[1], slice[2], piece.begin, piece.end});
        }
    }
    return planned;
}

PlanStep readStep(const JsonReader& in, const JsonValue& line) {
    constexpr std::array<std::string_view, 5> kKeys = {"step", "kind", "carried", "pack_ms", "micro_batches"};
    in.refuseUnknown(kKeys);
    for (std::string_view key : kKeys)
        in.need(key);
    PlanStep step;
    step.step = in.integer("step", 0, {0, kLargest});
    step.kind = static_cast<StepKind>(in.choice("kind", 0, kKinds));
    std::vector<std::int64_t> carried = row(in, *line.find("carried"), "carried", 3);
    step.carried = {carried[0], carried[1], carried[2]};
    step.packMilliseconds = in.number("pack_ms", 0, {0, std::numeric_limits<double>::max()});
    std::size_t place = 0;
    for (const JsonValue& value : list(in, "micro_batches"))
        step.microBatches.push_back(
            readMicroBatch(JsonReader(value, in.source(), fmt::format("micro_batches[{}]", place++))));
    return step;
}

std::vector<Discard> readDiscards(const JsonReader& in) {
    std::vector<Discard> discards;
    for (const JsonValue& value : list(in, "discards")) {
        const JsonValue::Array* entry = value.array();
        if (!entry || entry->size() != 4 || !entry->back().string())
            in.fail("discards",
                    fmt::format("expected [document, begin, end, reason], found {}", value.brief()));
        auto number = [&](std::size_t at) { return in.integerOf((*entry)[at], "discards", {0, kLargest}); };
        discards.push_back({number(0), number(1), number(2), *entry->back().string()});
        if (discards.back().begin >= discards.back().end)
            in.fail("discards", fmt::format("expected begin < end, found {}", value.brief()));
    }
    return discards;
}

std::vector<std::string> readNotices(const JsonReader& in) {
    std::vector<std::string> notices;
    for (const JsonValue& value : list(in, "notices")) {
        if (!value.string())
            in.fail("notices", fmt::format("expected strings, found {}", value.kind()));
        notices.push_back(*value.string());
    }
    return notices;
}

PlanHeader readHeader(const std::string& line, const std::string& place) {
    constexpr std::array<std::string_view, 10> kKeys = {
        "format",         "version", "scenario", "model", "cluster", "chosen", "cost_model_version",
        "random_version", "source",  "notices"};
    JsonValue value = parseJson(line, place);
    JsonReader in(value, place);
    in.refuseUnknown(kKeys);
    for (std::string_view key : kKeys)
        in.need(key);
    if (in.text("format", "") != kPlanFormat)
        in.fail("format", fmt::format("expected \"{}\"", kPlanFormat));
    in.integer("version", 0, {kPlanVersion, kPlanVersion});
    PlanHeader header;
    header.costModelVersion = static_cast<int>(in.integer("cost_model_version", 0, {1, CostModel::kVersion}));
    in.integer("random_version", 0, {1, Random::kRandomVersion});
    header.sourceDescription = in.text("source", "");
    header.notices = readNotices(in);
    JsonReader chosen = in.object("chosen");
    constexpr std::array<std::string_view, 2> kChosenKeys = {"thresholds", "max_tokens"};
    chosen.refuseUnknown(kChosenKeys);
    constexpr std::size_t kMostThresholds = 1024;
    header.chosen.thresholds = chosen.integers("thresholds", {0, kLargest}, kMostThresholds);
    chosen.need("max_tokens");
    header.chosen.maxTokens = chosen.integer("max_tokens", 0, {0, kLargest});
    // parseJson has bounded the nesting, so that taking the inner texts out again is safe.
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
    header.scenario = parseScenario(json["scenario"].dump(), place + ": scenario");
    header.model = parseModelSpec(json["model"].dump(), place + ": model");
    JsonReader model = in.object("model");
    header.model.name = model.text("name_or_path", header.model.name);
    header.cluster = parseClusterSpec(json["cluster"].dump(), place + ": cluster");
    refuseUnbuilt(header.scenario, place);
    try {
        CostModel(header.scenario, header.model, header.cluster);
    } catch (const Error& error) {
        throw error.within(place);
    }
    return header;
}

}  // namespace

struct PlanReader::State {
    explicit State(const std::filesystem::path& file) : lines(file) {
        std::optional<std::string> line = lines.next();
        if (!line)
            throw Error(fmt::format("{}: empty file, expected a plan's header", file.string()));
        header = readHeader(*line, lines.place());
    }

    std::optional<PlanStep> next() {
        if (ended)
            return std::nullopt;
        std::optional<std::string> line = lines.next();
        if (!line)
            throw Error(fmt::format("{}: the file is torn after this line: expected a step or the end line",
                                    lines.place()));
        JsonValue value = parseJson(*line, lines.place());
        JsonReader in(value, lines.place());
        if (in.has("end")) {
            end(in);
            return std::nullopt;
        }
        PlanStep step = readStep(in, value);
        if (step.step != steps)
            in.fail("step", fmt::format("expected {}, found {}", steps, step.step));
        validatePlanStep(step, header.scenario.layout, lines.place(), header.scenario.lengths.epochs);
        for (const PlannedMicroBatch& planned : step.microBatches)
            if (planned.batch.index >= header.scenario.microBatches)
                in.fail("micro_batches", fmt::format("expected an index below micro_batches={}, found {}",
                                                     header.scenario.microBatches, planned.batch.index));
        ++steps;
        return step;
    }

    void end(const JsonReader& in) {
        constexpr std::array<std::string_view, 3> kKeys = {"end", "steps", "discards"};
        in.refuseUnknown(kKeys);
        if (!in.boolean("end", false))
            in.fail("end", "expected true");
        in.need("steps");
        in.integer("steps", 0, {steps, steps});
        discards = readDiscards(in);
        if (lines.next())
            throw Error(fmt::format("{}: expected nothing after the end line", lines.place()));
        ended = true;
    }

    PlanLines lines;
    PlanHeader header;
    std::int64_t steps = 0;
    std::vector<Discard> discards;
    bool ended = false;
};

PlanReader::PlanReader(const std::filesystem::path& file) : state_(std::make_unique<State>(file)) {}
PlanReader::~PlanReader() = default;
PlanReader::PlanReader(PlanReader&&) noexcept = default;

const PlanHeader& PlanReader::header() const {
    return state_->header;
}

std::optional<PlanStep> PlanReader::next() {
    return state_->next();
}

const std::vector<Discard>& PlanReader::discards() const {
    return state_->discards;
}

bool looksLikePlan(const std::filesystem::path& file) {
    const std::string start = fmt::format(R"({{"format":"{}")", kPlanFormat);
    std::ifstream in(file, std::ios::binary);
    std::string found(start.size(), '\0');
    in.read(found.data(), static_cast<std::streamsize>(found.size()));
    return in && found == start;
}

}  // namespace ballast
