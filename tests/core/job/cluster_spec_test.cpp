// SPDX-License-Identifier: Apache-2.0
#include "core/job/cluster_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Points XDG_DATA_HOME elsewhere for one test.
class DataHome {
  public:
    explicit DataHome(const std::string& value) {
        if (const char* before = std::getenv("XDG_DATA_HOME"))
            before_ = before;
        ::setenv("XDG_DATA_HOME", value.c_str(), 1);
    }
    ~DataHome() {
        if (before_)
            ::setenv("XDG_DATA_HOME", before_->c_str(), 1);
        else
            ::unsetenv("XDG_DATA_HOME");
    }
    DataHome(const DataHome&) = delete;
    DataHome& operator=(const DataHome&) = delete;

  private:
    std::optional<std::string> before_;
};

std::string sentenceOf(const std::string& json) {
    try {
        parseClusterSpec(json, "cluster.json");
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        return error.what();
    }
    return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    return text.replace(place, from.size(), to);
}

TEST(ClusterSpec, RoundTripsThroughItsFile) {
    ClusterSpec cluster = testing::tinyCluster();
    cluster.measured = "2026-12-01";
    cluster.gpuSpeed = {1, 0.75};
    cluster.gemmAssumed = true;
    cluster.gemmErrorPercent = 3.5;
    cluster.overlapSlowdown = 1.25;
    cluster.attention.push_back(cluster.attention[0]);
    cluster.attention[1].headDim = 64;
    cluster.attention[1].backward.assumed = true;
    cluster.links[0].assumed = true;
    EXPECT_EQ(parseClusterSpec(clusterSpecJson(cluster), "again"), cluster);
}

TEST(ClusterSpec, ThePresetStatesItsPublishedFiguresWithTheirSource) {
    const ClusterSpec h100 = loadClusterSpec("h100-dgx");
    EXPECT_EQ(h100.name, "h100-dgx");
    EXPECT_EQ(h100.gpusPerNode, 8);
    EXPECT_EQ(h100.memoryGiB, 80);
    EXPECT_EQ(h100.peakFlops("bf16"), 989e12);
    EXPECT_FALSE(h100.measured);
    EXPECT_TRUE(h100.attention[0].backward.assumed);
    EXPECT_TRUE(h100.gemmAssumed);
    for (const char* figure : {"attention:", "gemm:", "links:", "overlap_slowdown:"})
        EXPECT_THAT(h100.source, HasSubstr(figure));
    for (const GemmPoint& point : h100.gemm) {
        EXPECT_GT(point.tflops, 0.4 * 989) << "measured fractions of peak are 0.45 to 0.80";
        EXPECT_LT(point.tflops, 794.5) << "no product is faster than the best one ever found";
    }
}

TEST(ClusterSpec, AttentionIsOneCurveOrAListByHeadSize) {
    const std::string curve =
        R"({"model":"tiles","kernel":"k","head_dim":64,"forward":{"a":1,"b":2,"c":3,"d":4},"backward":{"a":5,"b":6,"c":7,"d":8,"assumed":true},"error_pct":9})";
    const std::string rest =
        R"("name":"c","gpus_per_node":1,"memory_gib":1,"peak_tflops":{"fp32":1},"hbm_gbps":1,"gemm":{"table":[{"m":1,"n":1,"k":1,"tflops":1}]},"links":[{"scope":"node","latency_us":1,"bandwidth_gbps":1}],"collectives":{})";
    const ClusterSpec one = parseClusterSpec("{\"attention\":" + curve + "," + rest + "}", "one");
    const ClusterSpec list = parseClusterSpec("{\"attention\":[" + curve + "]," + rest + "}", "list");
    EXPECT_EQ(one, list);
    EXPECT_EQ(one.attention.size(), 1U);
    EXPECT_EQ(one.attention[0].headDim, 64);
    EXPECT_EQ(one.attention[0].backward, (TileConstants{5, 6, 7, 8, true}));
    EXPECT_EQ(one.attention[0].errorPercent, 9);
}

TEST(ClusterSpec, BadFilesNameFileAndKey) {
    const std::string good = clusterSpecJson(testing::tinyCluster());
    ASSERT_EQ(sentenceOf(good), "no error");
    const std::pair<std::string, std::string> cases[] = {
        {replaced(good, "\"hbm_gbps\"", "\"hbm_gpbs\""),
         "unknown key \"hbm_gpbs\"; the nearest key is \"hbm_gbps\""},
        {replaced(good, "\"latency_us\"", "\"latency\""), "unknown key \"links[0].latency\""},
        {replaced(good, "\"tflops\"", "\"flops\""), "unknown key \"gemm.table[0].flops\""},
        {replaced(good, "\"kernel\"", "\"kernal\""), "unknown key \"attention[0].kernal\""},
        {replaced(good, "\"tiles\"", "\"table\""), "attention[0].model: expected one of tiles"},
        {replaced(good, "\"hbm_gbps\": 10.0", "\"hbm_gbps\": 0"), "hbm_gbps: expected 1e-09 to"},
        {replaced(good, "\"hbm_gbps\": 10.0", "\"hbm_gbps\": \"x\""), "hbm_gbps: expected a number"},
        {replaced(good, "\"gpus_per_node\": 64", "\"gpus_per_node\": 0"), "gpus_per_node: expected 1 to"},
        {replaced(good, "\"m\": 256", "\"m\": -1"), "gemm.table[0].m: expected 1 to"},
        {replaced(good, "\"network\"", "\"node\""), "links[1].scope: \"node\" appears twice"},
        {replaced(good, "\"network\"", "\"rack\""), "links[1].scope: expected one of node, network"},
        {replaced(good, "\"gpu_speed\": []", "\"gpu_speed\": [0]"), "gpu_speed[0]: expected 0.001 to"},
        {replaced(good, "\"gpu_speed\": []", "\"collectives\": {\"x\": 1}"), "collectives"},
        {replaced(good, "\"fp32\"", "\"fp64\""), "unknown key \"peak_tflops.fp64\""},
        {"{}", "key \"name\" is missing"},
        {"[1]", "expected an object"},
        {"{", "not valid JSON"},
    };
    for (const auto& [json, sentence] : cases)
        EXPECT_THAT(sentenceOf(json), AllOf(HasSubstr("cluster.json: "), HasSubstr(sentence))) << json;
}

TEST(ClusterSpec, DamagedTextIsRefusedOrReadAndNeverCrashes) {
    const std::string whole = clusterSpecJson(testing::tinyCluster());
    for (std::size_t length = 0; length < whole.size(); ++length)
        sentenceOf(whole.substr(0, length));
    Random random(9);
    for (int i = 0; i < 3000; ++i) {
        std::string flipped = whole;
        flipped[random.below(flipped.size())] ^= static_cast<char>(1 << random.below(8));
        sentenceOf(flipped);
    }
}

TEST(ClusterSpec, ALinkOrPeakThatIsNotThereIsNamed) {
    ClusterSpec cluster = testing::tinyCluster();
    cluster.links.pop_back();
    EXPECT_EQ(cluster.link(true).scope, "node");
    EXPECT_THROW(cluster.link(false), Error);
    EXPECT_THROW(cluster.peakFlops("bf16"), Error);
    EXPECT_DOUBLE_EQ(cluster.peakFlops("fp32"), 0.1e12);
}

TEST(ThisMachine, LivesUnderTheDataFolderOfTheUser) {
    const DataHome home("/data/home");
    EXPECT_EQ(thisMachinePath(), "/data/home/ballast/clusters/this-machine.json");
}

TEST(ThisMachine, IsSharedByTheRanksOfTheScenario) {
    const testing::TemporaryDirectory folder;
    const DataHome home(folder.path().string());
    folder.write("ballast/clusters/this-machine.json", clusterSpecJson(testing::tinyCluster()));
    EXPECT_DOUBLE_EQ(loadClusterSpec("this-machine", 8).memoryGiB, 1.0 / 8);
}

TEST(ThisMachine, BeforeItWasMeasuredTheCommandIsNamed) {
    const testing::TemporaryDirectory folder;
    const DataHome home(folder.path().string());
    try {
        loadClusterSpec("this-machine");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        EXPECT_THAT(error.what(), HasSubstr("ballast-calibrate --this-machine"));
    }
}

TEST(ClusterSpec, AnUnknownNameListsThePresets) {
    try {
        loadClusterSpec("h200");
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("h100-dgx"), HasSubstr("this-machine")));
    }
}

}  // namespace
}  // namespace ballast
