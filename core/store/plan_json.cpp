// SPDX-License-Identifier: Apache-2.0
#include "core/store/plan_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace ballast {
namespace {

using Json = nlohmann::json;

Json modelJson(const ModelSpec& model) {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"hidden_size", model.hiddenSize},
            {"num_hidden_layers", model.layers},
            {"num_attention_heads", model.heads},
            {"num_key_value_heads", model.kvHeads},
            {"head_dim", model.headDim},
            {"intermediate_size", model.intermediateSize},
            {"vocab_size", model.vocabularySize},
            {"rope_theta", model.ropeTheta},
            {"rms_norm_eps", model.rmsNormEpsilon},
            {"tie_word_embeddings", model.tiedEmbeddings}};
}

/// Runs a parser; whatever JSON finds wrong becomes an Error at `place`.
template <class Parse>
auto parsed(std::string_view text, const std::string& place, Parse parse) {
    try {
        return parse(Json::parse(text));
    } catch (const Json::exception& error) {
        throw Error(fmt::format("{}: damaged plan: {}", place, error.what()));
    }
}

Json microBatchJson(const PlannedMicroBatch& planned) {
    Json pieces = Json::array();
    for (const Piece& piece : planned.batch.pieces)
        pieces.push_back({piece.document, piece.begin, piece.end, piece.arrivalStep, piece.order});
    Json ranks = Json::array();
    for (const Shard& shard : planned.sharding.ranks) {
        Json slices = Json::array();
        for (const Slice& slice : shard)
            slices.push_back({slice.document, slice.begin, slice.end, slice.pieceBegin, slice.pieceEnd});
        ranks.push_back(std::move(slices));
    }
    return {{"dp", planned.batch.dp},         {"index", planned.batch.index},
            {"tokens", planned.batch.tokens}, {"work", planned.batch.work},
            {"pieces", std::move(pieces)},    {"sharding", planned.sharding.strategy},
            {"ranks", std::move(ranks)}};
}

PlannedMicroBatch microBatchOf(const Json& json) {
    PlannedMicroBatch planned;
    json.at("dp").get_to(planned.batch.dp);
    json.at("index").get_to(planned.batch.index);
    json.at("tokens").get_to(planned.batch.tokens);
    json.at("work").get_to(planned.batch.work);
    for (const Json& entry : json.at("pieces")) {
        const auto numbers = entry.get<std::array<std::int64_t, 5>>();
        planned.batch.pieces.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]});
    }
    json.at("sharding").get_to(planned.sharding.strategy);
    for (const Json& slices : json.at("ranks")) {
        Shard shard;
        for (const Json& entry : slices) {
            const auto numbers = entry.get<std::array<std::int64_t, 5>>();
            shard.push_back({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]});
        }
        planned.sharding.ranks.push_back(std::move(shard));
    }
    return planned;
}

}  // namespace

std::string planHeaderJson(const PlanHeader& header) {
    const Json json = {
        {"scenario", Json::parse(scenarioJson(header.scenario))},
        {"model", {{"name", header.model.name}, {"config", modelJson(header.model)}}},
        {"cluster", Json::parse(clusterSpecJson(header.cluster))},
        {"chosen", {{"thresholds", header.chosen.thresholds}, {"max_tokens", header.chosen.maxTokens}}},
        {"cost_model_version", header.costModelVersion},
        {"source", header.sourceDescription},
        {"notices", header.notices}};
    return json.dump();
}

PlanHeader parsePlanHeader(std::string_view text, const std::string& place) {
    return parsed(text, place, [&](const Json& json) {
        PlanHeader header;
        header.scenario = parseScenario(json.at("scenario").dump(), place);
        header.model = parseModelSpec(json.at("model").at("config").dump(), place);
        json.at("model").at("name").get_to(header.model.name);
        header.cluster = parseClusterSpec(json.at("cluster").dump(), place);
        json.at("chosen").at("thresholds").get_to(header.chosen.thresholds);
        json.at("chosen").at("max_tokens").get_to(header.chosen.maxTokens);
        json.at("cost_model_version").get_to(header.costModelVersion);
        json.at("source").get_to(header.sourceDescription);
        json.at("notices").get_to(header.notices);
        return header;
    });
}

std::string planStepJson(const PlanStep& step) {
    Json microBatches = Json::array();
    for (const PlannedMicroBatch& planned : step.microBatches)
        microBatches.push_back(microBatchJson(planned));
    const Json json = {{"step", step.step},
                       {"kind", stepKindName(step.kind)},
                       {"micro_batches", std::move(microBatches)},
                       {"carried",
                        {{"documents", step.carried.documents},
                         {"queued_tokens", step.carried.queuedTokens},
                         {"remained_tokens", step.carried.remainedTokens}}},
                       {"pack_ms", step.packMilliseconds}};
    return json.dump();
}

PlanStep parsePlanStep(std::string_view text, const std::string& place) {
    return parsed(text, place, [&](const Json& json) {
        PlanStep step;
        json.at("step").get_to(step.step);
        const auto kind = json.at("kind").get<std::string>();
        bool known = false;
        for (const StepKind candidate : {StepKind::Full, StepKind::Partial, StepKind::Drain}) {
            if (stepKindName(candidate) == kind) {
                step.kind = candidate;
                known = true;
            }
        }
        if (!known)
            throw Error(
                fmt::format("{}: damaged plan: kind '{}', expected full, partial or drain", place, kind));
        for (const Json& entry : json.at("micro_batches"))
            step.microBatches.push_back(microBatchOf(entry));
        json.at("carried").at("documents").get_to(step.carried.documents);
        json.at("carried").at("queued_tokens").get_to(step.carried.queuedTokens);
        json.at("carried").at("remained_tokens").get_to(step.carried.remainedTokens);
        json.at("pack_ms").get_to(step.packMilliseconds);
        return step;
    });
}

std::string discardsJson(const std::vector<Discard>& discards) {
    Json list = Json::array();
    for (const Discard& discard : discards)
        list.push_back({{"document", discard.document},
                        {"begin", discard.begin},
                        {"end", discard.end},
                        {"reason", discard.reason}});
    return list.dump();
}

std::vector<Discard> parseDiscards(std::string_view text, const std::string& place) {
    return parsed(text, place, [](const Json& json) {
        std::vector<Discard> discards;
        for (const Json& entry : json)
            discards.push_back({entry.at("document").get<std::int64_t>(),
                                entry.at("begin").get<std::int64_t>(), entry.at("end").get<std::int64_t>(),
                                entry.at("reason").get<std::string>()});
        return discards;
    });
}

}  // namespace ballast
