// SPDX-License-Identifier: Apache-2.0
#include "backend/model/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

TEST(Parameters, HaveHuggingFacesNamesAndShapes) {
    const std::vector<TensorSpec> specs = tensorSpecs(smallModel());
    ASSERT_EQ(specs.size(), 2U + 4 * 9 + 1);
    auto shape = [&](const std::string& name) {
        for (const TensorSpec& spec : specs)
            if (spec.name == name)
                return std::pair(spec.rows, spec.columns);
        return std::pair<std::int64_t, std::int64_t>(-1, -1);
    };
    EXPECT_EQ(shape("model.embed_tokens.weight"), std::pair(std::int64_t{96}, std::int64_t{32}));
    EXPECT_EQ(shape("model.layers.3.self_attn.k_proj.weight"), std::pair(std::int64_t{16}, std::int64_t{32}));
    EXPECT_EQ(shape("model.layers.0.self_attn.o_proj.weight"), std::pair(std::int64_t{32}, std::int64_t{32}));
    EXPECT_EQ(shape("model.layers.0.mlp.down_proj.weight"), std::pair(std::int64_t{32}, std::int64_t{48}));
    EXPECT_EQ(shape("model.norm.weight"), std::pair(std::int64_t{32}, std::int64_t{0}));
    EXPECT_EQ(shape("lm_head.weight"), std::pair(std::int64_t{96}, std::int64_t{32}));
}

TEST(Parameters, PartsOfATensorCoverItOnceForAnyNumberOfTensorRanks) {
    ModelSpec model = smallModel();
    model.intermediateSize = 50;  // not a multiple of the ranks
    model.vocabularySize = 101;
    for (int ranks : {1, 2})
        for (const TensorSpec& spec : tensorSpecs(model)) {
            std::int64_t covered = 0;
            for (int tp = 0; tp < ranks; ++tp)
                covered += tensorPart(spec, tp, ranks).count();
            EXPECT_EQ(covered, spec.count() * (spec.split == TensorSplit::Whole ? ranks : 1)) << spec.name;
        }
}

TEST(Parameters, InitialWeightsHaveTheDeviationAskedForAndFollowTheSeed) {
    auto weights = [](std::uint64_t seed) {
        const ModelSpec model = smallModel();
        const std::vector<std::int64_t> stages{4};
        MemoryArena arena;
        Parameters parameters({model, {1, 1, 1, 1}, {0, 0, 0, 0}, stages, seed, 0.02}, arena);
        auto values = parameters.weights(parameters.embedding());
        return std::vector<float>(values.begin(), values.end());
    };
    const std::vector<float> one = weights(1);
    double squares = 0;
    for (float value : one)
        squares += static_cast<double>(value) * static_cast<double>(value);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(one.size())), 0.02, 0.001);
    EXPECT_EQ(one, weights(1));
    EXPECT_NE(one, weights(2));
}

TEST(Parameters, TensorRanksThatDoNotDivideTheKeyHeadsAreRefusedByKey) {
    try {
        rankShape(smallModel(), {4, 1, 1, 1}, 0);
        FAIL() << "4 ranks cannot share 2 key heads";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("layout.tp"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("num_key_value_heads"), std::string::npos);
    }
}

}  // namespace
}  // namespace ballast::backend::testing
