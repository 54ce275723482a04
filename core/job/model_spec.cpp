// SPDX-License-Identifier: Apache-2.0
#include "core/job/model_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/job/json_reader.h"
#include "core/job/presets.h"

namespace ballast {
namespace {

constexpr std::array<std::string_view, 10> kShapeKeys = {
    "hidden_size",  "num_hidden_layers",  "num_attention_heads", "num_key_value_heads",
    "head_dim",     "intermediate_size",  "vocab_size",          "rope_theta",
    "rms_norm_eps", "tie_word_embeddings"};

/// Keys of a config.json that change nothing that is trained or timed here.
constexpr std::array<std::string_view, 28> kHarmlessKeys = {"architectures",
                                                            "torch_dtype",
                                                            "dtype",
                                                            "bos_token_id",
                                                            "eos_token_id",
                                                            "pad_token_id",
                                                            "max_position_embeddings",
                                                            "initializer_range",
                                                            "use_cache",
                                                            "transformers_version",
                                                            "_name_or_path",
                                                            "name_or_path",
                                                            "max_sequence_length",
                                                            "output_attentions",
                                                            "output_hidden_states",
                                                            "return_dict",
                                                            "use_return_dict",
                                                            "torchscript",
                                                            "id2label",
                                                            "label2id",
                                                            "problem_type",
                                                            "task_specific_params",
                                                            "tokenizer_class",
                                                            "unk_token_id",
                                                            "sep_token_id",
                                                            "decoder_start_token_id",
                                                            "is_decoder",
                                                            "license"};

/// A key that may stand in the file only with a value that asks for nothing.
struct OnlyValue {
    std::string_view key;
    std::string_view json;  ///< the one value besides null, as compact JSON
    std::string_view what;
};
constexpr std::array<OnlyValue, 12> kOnlyValues = {{
    {"model_type", "\"llama\"", "a model type other than llama"},
    {"hidden_act", "\"silu\"", "an activation other than silu"},
    {"rope_scaling", "null", "a scaled rotary embedding"},
    {"attention_bias", "false", "a bias in the attention projections"},
    {"mlp_bias", "false", "a bias in the feed-forward"},
    {"sliding_window", "null", "sliding-window attention"},
    {"use_sliding_window", "false", "sliding-window attention"},
    {"attention_dropout", "0", "dropout"},
    {"hidden_dropout", "0", "dropout"},
    {"pretraining_tp", "1", "sliced pretraining products"},
    {"quantization_config", "null", "quantised weights"},
    {"is_encoder_decoder", "false", "an encoder"},
}};

void refuseUnknownKeys(const JsonValue& value, std::string_view source) {
    std::vector<std::string_view> known(kShapeKeys.begin(), kShapeKeys.end());
    known.insert(known.end(), kHarmlessKeys.begin(), kHarmlessKeys.end());
    for (const OnlyValue& only : kOnlyValues)
        known.push_back(only.key);
    known.push_back("rope_parameters");
    JsonReader(value, source).refuseUnknown(known);
}

void refuseUnbuiltKeys(const JsonReader& in) {
    for (const OnlyValue& only : kOnlyValues) {
        const JsonValue* member = in.find(only.key);
        if (!member || member->isNull())
            continue;
        const auto* real = std::get_if<double>(&member->data);
        const std::string found = real && *real == 0 ? "0" : member->brief();
        if (found != only.json)
            in.fail(only.key,
                    fmt::format("{} is not built yet (found {}, expected {})", only.what, found, only.json));
    }
}

/// Newer config files keep the angle's base in rope_parameters.
double readRopeTheta(const JsonReader& in) {
    constexpr double kDefault = 10000;
    constexpr Range<double> kRange = {1, 1e12};
    const JsonValue* parameters = in.find("rope_parameters");
    if (!parameters || parameters->isNull())
        return in.number("rope_theta", kDefault, kRange);
    constexpr std::array<std::string_view, 2> kKeys = {"rope_theta", "rope_type"};
    const JsonReader inner = in.object("rope_parameters");
    inner.refuseUnknown(kKeys);
    if (inner.text("rope_type", "default") != "default")
        inner.fail(inner.pathOf("rope_type"),
                   "a scaled rotary embedding is not built yet (expected \"default\")");
    return inner.number("rope_theta", in.number("rope_theta", kDefault, kRange), kRange);
}

std::int64_t needed(const JsonReader& in, std::string_view key, Range<std::int64_t> range) {
    in.need(key);
    return in.integer(key, 0, range);
}

void checkShapes(const JsonReader& in, const ModelSpec& model) {
    if (model.heads % model.kvHeads != 0)
        in.fail("num_key_value_heads", fmt::format("expected a divisor of num_attention_heads, {}, found {}",
                                                   model.heads, model.kvHeads));
    if (model.headDim % 2 != 0)
        in.fail("head_dim",
                fmt::format("expected an even number, since rotary embedding turns pairs, found {}",
                            model.headDim));
}

std::string modelNameOf(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path().filename();
    return file.stem() == "config" && !folder.empty() ? folder.string() : file.stem().string();
}

}  // namespace

ModelSpec parseModelSpec(std::string_view json, std::string_view source) {
    const JsonValue value = parseJson(json, source);
    refuseUnknownKeys(value, source);
    const JsonReader in(value, source);
    refuseUnbuiltKeys(in);
    const auto optional = [&](std::string_view key) {
        const JsonValue* member = in.find(key);
        return member && !member->isNull();
    };
    ModelSpec model;
    model.name = source;
    // The largest values together keep the number of parameters under 2^60.
    model.hiddenSize = needed(in, "hidden_size", {1, 1 << 20});
    model.layers = needed(in, "num_hidden_layers", {1, 4096});
    model.heads = needed(in, "num_attention_heads", {1, 16384});
    model.kvHeads =
        optional("num_key_value_heads") ? in.integer("num_key_value_heads", 0, {1, 16384}) : model.heads;
    model.intermediateSize = needed(in, "intermediate_size", {1, 1 << 24});
    model.vocabularySize = needed(in, "vocab_size", {1, 1 << 26});
    if (optional("head_dim")) {
        model.headDim = in.integer("head_dim", 0, {1, 1024});
    } else {
        if (model.hiddenSize % model.heads != 0 || model.hiddenSize / model.heads > 1024)
            in.fail("num_attention_heads", fmt::format("expected a divisor of hidden_size, {}, found {}",
                                                       model.hiddenSize, model.heads));
        model.headDim = model.hiddenSize / model.heads;
    }
    model.ropeTheta = readRopeTheta(in);
    model.rmsNormEpsilon = in.number("rms_norm_eps", 1e-6, {1e-30, 1});
    model.tiedEmbeddings = in.boolean("tie_word_embeddings", false);
    checkShapes(in, model);
    return model;
}

ModelSpec loadModelSpec(std::string_view presetOrPath) {
    if (const EmbeddedText* preset = findPreset(modelPresetTexts(), presetOrPath))
        return parseModelSpec(preset->text, preset->name);
    std::error_code failure;
    std::filesystem::path file(presetOrPath);
    if (!std::filesystem::exists(file, failure))
        throw Error(fmt::format("model \"{}\": expected a preset ({}) or the path of a config.json",
                                presetOrPath, fmt::join(modelPresetNames(), ", ")));
    if (std::filesystem::is_directory(file, failure))
        file /= "config.json";
    ModelSpec model = parseModelSpec(readTextFile(file), file.string());
    model.name = modelNameOf(file);
    return model;
}

std::vector<std::string> modelPresetNames() {
    return presetNames(modelPresetTexts());
}

}  // namespace ballast
