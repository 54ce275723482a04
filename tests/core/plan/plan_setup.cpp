// SPDX-License-Identifier: Apache-2.0
#include "tests/core/plan/plan_setup.h"

#include <fmt/format.h>

#include "core/base/random.h"
#include "tests/support/builders.h"

namespace ballast::testing {

PlanFolder::PlanFolder(const std::vector<std::int64_t>& lengths, double memoryGiB) {
    std::string text;
    for (std::int64_t length : lengths)
        text += fmt::format("{}\n", length);
    directory_.write("lengths.txt", text);
    ClusterSpec cluster = tinyCluster();
    cluster.memoryGiB = memoryGiB;
    directory_.write("cluster.json", clusterSpecJson(cluster));
}

Scenario PlanFolder::scenario(std::string_view packing, std::string_view sharding) const {
    Scenario scenario;
    scenario.lengths.source = {(directory_ / "lengths.txt").string()};
    scenario.lengths.window = 64;
    scenario.model = "demo";
    scenario.cluster = (directory_ / "cluster.json").string();
    scenario.layout = {1, 2, 2, 2};
    scenario.microBatches = 2;
    scenario.packing.strategy = packing;
    scenario.sharding.strategy = sharding;
    return scenario;
}

std::vector<std::int64_t> mixedLengths(std::uint64_t seed, int documents) {
    Random random(seed);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < documents; ++i) {
        std::uint64_t kind = random.below(10);
        std::uint64_t most = kind == 0 ? 1 : kind < 8 ? 20 : kind == 8 ? 70 : 200;
        lengths.push_back(static_cast<std::int64_t>(random.below(most + (kind > 0))));
    }
    return lengths;
}

std::string pictureOf(const PlanStep& step) {
    std::string picture =
        fmt::format("{} {} carried {} {} {}", step.step, stepKindName(step.kind), step.carried.documents,
                    step.carried.queuedTokens, step.carried.remainedTokens);
    auto out = std::back_inserter(picture);
    for (const PlannedMicroBatch& planned : step.microBatches) {
        fmt::format_to(out, "\n  dp {} index {} tokens {} work {} {}", planned.batch.dp, planned.batch.index,
                       planned.batch.tokens, planned.batch.work, planned.sharding.strategy);
        for (const Piece& piece : planned.batch.pieces)
            fmt::format_to(out, " {}[{},{}) a{} o{}", piece.document, piece.begin, piece.end,
                           piece.arrivalStep, piece.order);
        for (const Shard& shard : planned.sharding.ranks) {
            picture += "\n    ";
            for (const Slice& slice : shard)
                fmt::format_to(out, " {}[{},{}) of [{},{})", slice.document, slice.begin, slice.end,
                               slice.pieceBegin, slice.pieceEnd);
        }
    }
    return picture;
}

std::vector<std::string> picturesOf(const std::vector<PlanStep>& steps) {
    std::vector<std::string> pictures;
    for (const PlanStep& step : steps)
        pictures.push_back(pictureOf(step));
    return pictures;
}

}  // namespace ballast::testing
