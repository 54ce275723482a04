// SPDX-License-Identifier: Apache-2.0
// The files that the trainer exports, read back by a reader that knows only the format's description.
#include "backend/model/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "backend/comm/loopback_communicator.h"
#include "core/base/error.h"
#include "tests/backend/training_case.h"
#include "tests/support/temporary_directory.h"

namespace ballast::backend::testing {
namespace {

struct ReadTensor {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};

std::map<std::string, ReadTensor> readSafetensors(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    std::uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, bytes.data(), sizeof headerBytes);
    EXPECT_EQ(headerBytes % 8, 0U);
    const auto header = nlohmann::json::parse(bytes.substr(8, headerBytes));
    const std::string data = bytes.substr(8 + headerBytes);
    std::map<std::string, ReadTensor> tensors;
    std::size_t covered = 0;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        EXPECT_EQ(entry.at("dtype"), "F32");
        ReadTensor& tensor = tensors[name];
        tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
        const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
        const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
        tensor.values.resize((end - begin) / sizeof(float));
        std::memcpy(tensor.values.data(), data.data() + begin, end - begin);
        covered += end - begin;
    }
    EXPECT_EQ(covered, data.size());
    return tensors;
}

TEST(Safetensors, ExportHoldsTheWholeTensorsUnderHuggingFacesNamesWhateverTheLayout) {
    ballast::testing::TemporaryDirectory directory;
    const std::filesystem::path file = directory.path() / "weights.safetensors";
    TrainingCase trainingCase = smallCase({2, 2, 1, 2});
    trainingCase.model.tiedEmbeddings = true;
    const Scenario scenario = scenarioOf(trainingCase);
    const CostModel cost = costOf(trainingCase);
    const auto tokens = patternTokens(trainingCase.model.vocabularySize);
    runLoopback(8, [&](Transport& transport) {
        Trainer trainer({scenario, cost, *tokens, Clock::Virtual, {}, false}, transport);
        trainer.exportTo(Parameters::Kind::Weights, file);
    });
    TrainingCase one = trainingCase;
    one.layout = {1, 1, 1, 1};
    const FloatTensors expected = train(one).initialWeights;
    const auto found = readSafetensors(file);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(found.count("lm_head.weight"), 0U) << "a tied head is left out";
    for (const auto& [name, values] : expected)
        EXPECT_EQ(found.at(name).values, values) << name;
    EXPECT_EQ(found.at("model.layers.1.mlp.gate_proj.weight").shape, (std::vector<std::int64_t>{48, 32}));
    EXPECT_EQ(found.at("model.norm.weight").shape, (std::vector<std::int64_t>{32}));
    EXPECT_FALSE(std::filesystem::exists(file.string() + ".partial"));
}

TEST(Safetensors, FileThatCannotBeWrittenIsAnErrorWithItsPathAndLeavesNoRankWaiting) {
    const TrainingCase trainingCase = smallCase({1, 1, 2, 1});
    const Scenario scenario = scenarioOf(trainingCase);
    const CostModel cost = costOf(trainingCase);
    const auto tokens = patternTokens(trainingCase.model.vocabularySize);
    try {
        runLoopback(2, [&](Transport& transport) {
            Trainer trainer({scenario, cost, *tokens, Clock::Virtual, {}, false}, transport);
            trainer.exportTo(Parameters::Kind::Weights, "/no/such/folder/weights.safetensors");
        });
        FAIL() << "the folder does not exist";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("/no/such/folder/weights.safetensors"), std::string::npos);
    }
}

}  // namespace
}  // namespace ballast::backend::testing
