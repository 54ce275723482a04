// SPDX-License-Identifier: Apache-2.0
#include "core/job/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kSmall =
    R"("hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":128,"vocab_size":256)";

ModelSpec parseWith(const std::string& more) {
    return parseModelSpec("{" + std::string(kSmall) + (more.empty() ? "" : "," + more) + "}", "config.json");
}

std::string sentenceOf(const std::string& json) {
    try {
        parseModelSpec(json, "config.json");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        return error.what();
    }
    return "no error";
}

std::string sentenceWith(const std::string& more) {
    return sentenceOf("{" + std::string(kSmall) + "," + more + "}");
}

TEST(ModelSpec, PresetsHaveThePublishedNumberOfParameters) {
    // Parameter counts of the published checkpoints.
    EXPECT_EQ(loadModelSpec("llama2-7b").parameters(), 6738415616);
    EXPECT_EQ(loadModelSpec("llama3-8b").parameters(), 8030261248);
}

TEST(ModelSpec, TheDemoModelIsTheOneOfTheMainJob) {
    const ModelSpec demo = loadModelSpec("demo");
    EXPECT_EQ(demo.name, "demo");
    EXPECT_EQ(demo.vocabularySize, 256) << "one token a byte";
    // Per layer: q 128x128, k and v 128x64, o 128x128, three 128x384; two norms.
    EXPECT_EQ(demo.parameters(), 4 * (16384 + 2 * 8192 + 16384 + 3 * 49152 + 256) + 128 + 2 * 32768);
    EXPECT_FALSE(demo.tiedEmbeddings);
}

TEST(ModelSpec, AbsentKeysHaveTheDefaultsOfHuggingFace) {
    const ModelSpec model = parseWith("");
    EXPECT_EQ(model.kvHeads, 4);
    EXPECT_EQ(model.headDim, 16);
    EXPECT_EQ(model.ropeTheta, 10000);
    EXPECT_EQ(model.rmsNormEpsilon, 1e-6);
    EXPECT_FALSE(model.tiedEmbeddings);
}

TEST(ModelSpec, HarmlessKeysAndNullsAreAccepted) {
    EXPECT_EQ(parseWith(R"("model_type":"llama","hidden_act":"silu","rope_scaling":null,"sliding_window":null,
        "architectures":["LlamaForCausalLM"],"torch_dtype":"bfloat16","bos_token_id":1,"eos_token_id":[2,3],
        "pad_token_id":null,"max_position_embeddings":4096,"initializer_range":0.02,"use_cache":true,
        "transformers_version":"4.31.0","attention_dropout":0.0,"pretraining_tp":1,"attention_bias":false,
        "mlp_bias":false,"head_dim":null,"num_key_value_heads":null)"),
              parseWith(""));
    EXPECT_EQ(parseWith(R"("rope_parameters":{"rope_theta":500000,"rope_type":"default"})").ropeTheta,
              500000);
}

TEST(ModelSpec, WhatIsNotBuiltIsRefusedByItsKey) {
    const std::pair<std::string, std::string> cases[] = {
        {R"("rope_scaling":{"type":"linear","factor":2})", "rope_scaling"},
        {R"("rope_parameters":{"rope_type":"llama3"})", "rope_parameters.rope_type"},
        {R"("attention_bias":true)", "attention_bias"},
        {R"("mlp_bias":true)", "mlp_bias"},
        {R"("hidden_act":"gelu")", "hidden_act"},
        {R"("sliding_window":4096)", "sliding_window"},
        {R"("attention_dropout":0.1)", "attention_dropout"},
        {R"("model_type":"mixtral")", "model_type"},
        {R"("pretraining_tp":2)", "pretraining_tp"},
        {R"("quantization_config":{"bits":4})", "quantization_config"},
    };
    for (const auto& [json, key] : cases)
        EXPECT_THAT(sentenceWith(json),
                    AllOf(HasSubstr("config.json: " + key + ": "), HasSubstr("not built yet")))
            << json;
}

TEST(ModelSpec, AnUnknownKeyIsRefusedAndNotIgnored) {
    EXPECT_THAT(sentenceWith(R"("num_local_experts":8)"), HasSubstr("unknown key \"num_local_experts\""));
    EXPECT_THAT(sentenceWith(R"("rope_teta":8)"), HasSubstr("\"rope_theta\""));
}

TEST(ModelSpec, MissingKeysAndBadShapesNameTheKey) {
    EXPECT_THAT(sentenceOf("{}"), HasSubstr("config.json: key \"hidden_size\" is missing"));
    EXPECT_THAT(sentenceOf(R"({"hidden_size":0})"), HasSubstr("hidden_size: expected 1 to"));
    EXPECT_THAT(sentenceOf(R"({"hidden_size":64,"num_hidden_layers":"x"})"), HasSubstr("num_hidden_layers"));
    EXPECT_THAT(sentenceWith(R"("num_key_value_heads":3)"),
                HasSubstr("expected a divisor of num_attention_heads"));
    EXPECT_THAT(sentenceWith(R"("head_dim":15)"), HasSubstr("expected an even number"));
    EXPECT_THAT(sentenceWith(R"("tie_word_embeddings":1)"), HasSubstr("expected true or false"));
    EXPECT_THAT(sentenceOf(R"({"hidden_size":65,"num_hidden_layers":2,"num_attention_heads":4,
        "intermediate_size":8,"vocab_size":8})"),
                HasSubstr("expected a divisor of hidden_size"));
    EXPECT_THAT(sentenceOf(R"({"hidden_size":1e30})"), HasSubstr("hidden_size"));
}

TEST(ModelSpec, IsReadFromAFileOrItsFolderAndNamedAfterIt) {
    const testing::TemporaryDirectory folder;
    const auto file = folder.write("my-model/config.json", "{" + std::string(kSmall) + "}");
    EXPECT_EQ(loadModelSpec(file.string()).name, "my-model");
    EXPECT_EQ(loadModelSpec(file.parent_path().string()).hiddenSize, 64);
    try {
        loadModelSpec("lama2-7b");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("\"lama2-7b\""), HasSubstr("llama2-7b"), HasSubstr("demo")));
    }
}

}  // namespace
}  // namespace ballast
