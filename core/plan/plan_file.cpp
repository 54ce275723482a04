// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/pending_file.h"
#include "core/base/random.h"
#include "core/plan/plan_lines.h"
#include "core/timeline/crc32.h"

namespace ballast {
namespace {

using Json = nlohmann::ordered_json;

std::string compact(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string quoted(const std::string& text) {
    return compact(Json(text));
}

Json modelJson(const ModelSpec& model) {
    return {{"name_or_path", model.name},
            {"model_type", "llama"},
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

std::string headerLine(const PlanHeader& header) {
    Json json;
    json["format"] = kPlanFormat;
    json["version"] = kPlanVersion;
    json["scenario"] = Json::parse(scenarioJson(header.scenario));
    json["model"] = modelJson(header.model);
    json["cluster"] = Json::parse(clusterSpecJson(header.cluster));
    json["chosen"] = {{"thresholds", header.chosen.thresholds}, {"max_tokens", header.chosen.maxTokens}};
    json["cost_model_version"] = header.costModelVersion;
    json["random_version"] = Random::kRandomVersion;
    json["source"] = header.sourceDescription;
    json["notices"] = header.notices;
    return compact(json);
}

/// Where a piece stands in the micro-batch's documents. The same range may be there twice when a short source
/// comes round again; either place describes it.
using Places = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t>;

void appendMicroBatch(std::string& line, const PlannedMicroBatch& planned) {
    const MicroBatch& batch = planned.batch;
    auto out = std::back_inserter(line);
    fmt::format_to(out, R"({{"dp":{},"index":{},"work":{},"documents":[)", batch.dp, batch.index,
                   compact(Json(batch.work)));
    Places places;
    for (std::size_t i = 0; i < batch.pieces.size(); ++i) {
        const Piece& piece = batch.pieces[i];
        places.emplace(std::tuple(piece.document, piece.begin, piece.end), i);
        fmt::format_to(out, "{}[{},{},{},{},{}]", i > 0 ? "," : "", piece.document, piece.begin, piece.end,
                       piece.arrivalStep, piece.order);
    }
    fmt::format_to(out, R"(],"sharding":{},"ranks":[)", quoted(planned.sharding.strategy));
    for (std::size_t rank = 0; rank < planned.sharding.ranks.size(); ++rank) {
        line += rank > 0 ? ",[" : "[";
        const Shard& shard = planned.sharding.ranks[rank];
        for (std::size_t i = 0; i < shard.size(); ++i) {
            const Slice& slice = shard[i];
            auto place = places.find({slice.document, slice.pieceBegin, slice.pieceEnd});
            BALLAST_CHECK(place != places.end());
            fmt::format_to(out, "{}[{},{},{}]", i > 0 ? "," : "", place->second, slice.begin, slice.end);
        }
        line += ']';
    }
    line += "]}";
}

std::string stepLine(const PlanStep& step) {
    std::string line =
        fmt::format(R"({{"step":{},"kind":"{}","carried":[{},{},{}],"pack_ms":{},"micro_batches":[)",
                    step.step, stepKindName(step.kind), step.carried.documents, step.carried.queuedTokens,
                    step.carried.remainedTokens, compact(Json(step.packMilliseconds)));
    for (std::size_t i = 0; i < step.microBatches.size(); ++i) {
        if (i > 0)
            line += ',';
        appendMicroBatch(line, step.microBatches[i]);
    }
    line += "]}";
    return line;
}

std::string endLine(std::int64_t steps, const std::vector<Discard>& discards) {
    std::string line = fmt::format(R"({{"end":true,"steps":{},"discards":[)", steps);
    for (std::size_t i = 0; i < discards.size(); ++i)
        fmt::format_to(std::back_inserter(line), "{}[{},{},{},{}]", i > 0 ? "," : "", discards[i].document,
                       discards[i].begin, discards[i].end, quoted(discards[i].reason));
    line += "]}";
    return line;
}

}  // namespace

struct PlanWriter::State {
    explicit State(std::filesystem::path path) : file(std::move(path)) {}

    PendingFile file;
    std::int64_t steps = 0;

    /// `line` is an object; the checksum becomes its last member.
    void write(std::string line) {
        line.pop_back();
        std::uint32_t crc = crc32(line.data(), line.size());
        fmt::format_to(std::back_inserter(line), R"(,"crc32":"{:08x}"}})", crc);
        line += '\n';
        file.write(line);
    }
};

PlanWriter::PlanWriter(std::filesystem::path file, const PlanHeader& header) {
    std::string line = headerLine(header);
    state_ = std::make_unique<State>(std::move(file));
    state_->write(std::move(line));
}

PlanWriter::~PlanWriter() = default;

void PlanWriter::write(const PlanStep& step) {
    state_->write(stepLine(step));
    ++state_->steps;
}

void PlanWriter::finish(const std::vector<Discard>& discards) {
    state_->write(endLine(state_->steps, discards));
    state_->file.close();
    state_->file.commit();
}

}  // namespace ballast
