// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/text_file.h"
#include "core/job/cluster_spec.h"

namespace ballast {
namespace {

struct Answer {
    int exitCode = -1;
    std::string text;
};

/// Runs ballast-calibrate; `channel` is the one whose text is returned: 1 standard output, 2 standard error.
Answer calibrate(const std::string& arguments, int channel) {
    const std::string other = channel == 1 ? " 2>/dev/null" : " 2>&1 >/dev/null";
    const std::string command = BALLAST_BIN_DIR "/ballast-calibrate " + arguments + other;
    Answer answer;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr)
        return answer;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
        answer.text.append(buffer, count);
    const int status = pclose(pipe);
    answer.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
}

class Calibrate : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = std::filesystem::temp_directory_path() / "ballast-calibrate-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
};

TEST_F(Calibrate, CheckComparesTheMatrixProductAndNamesTheMpiLibrary) {
    const Answer answer = calibrate("--check", 1);
    EXPECT_EQ(answer.exitCode, 0);
    const nlohmann::json json = nlohmann::json::parse(answer.text);
    ASSERT_EQ(json.at("checks").size(), 2U);
    EXPECT_EQ(json.at("checks")[0].at("name"), "sgemm");
    EXPECT_EQ(json.at("checks")[0].at("ok"), true);
    EXPECT_EQ(json.at("checks")[1].at("name"), "mpi");
    EXPECT_EQ(answer.text.find('\n'), answer.text.size() - 1);
}

TEST_F(Calibrate, RefusesWhatItDoesNotKnowInOneSentence) {
    for (const char* arguments : {"", "--this-machine --seconds", "--this-machine --seconds 0", "--cluster x",
                                  "--this-machine --seconds 1e9", "--this-machine --check"}) {
        const Answer answer = calibrate(arguments, 2);
        EXPECT_EQ(answer.exitCode, 2) << arguments;
        EXPECT_EQ(answer.text.find('\n'), answer.text.size() - 1) << answer.text;
    }
}

TEST_F(Calibrate, WritesAClusterFileThatTheCoreReadsWithFiguresOfThisMachine) {
    const std::filesystem::path file = folder_ / "clusters" / "this-machine.json";
    const Answer answer = calibrate("--this-machine --seconds 1 --out " + file.string(), 2);
    ASSERT_EQ(answer.exitCode, 0) << answer.text;
    EXPECT_NE(answer.text.find("measuring this machine"), std::string::npos);
    const ClusterSpec cluster = parseClusterSpec(readTextFile(file), file.string());
    EXPECT_EQ(cluster.name, "this-machine");
    EXPECT_TRUE(cluster.measured.has_value());
    EXPECT_GT(cluster.memoryGiB, 0);
    ASSERT_EQ(cluster.attention.size(), 2U);
    for (const AttentionCurve& curve : cluster.attention) {
        EXPECT_FALSE(curve.forward.assumed);
        EXPECT_FALSE(curve.backward.assumed);
        // Five products against two, so that the backward is dearer on any machine.
        EXPECT_GT(curve.backward.a, curve.forward.a);
        EXPECT_GT(curve.errorPercent, 0);
    }
    EXPECT_LT(cluster.attention[0].headDim, cluster.attention[1].headDim);
    EXPECT_GT(cluster.attention[1].forward.a, cluster.attention[0].forward.a);
    double best = 0;
    for (const GemmPoint& point : cluster.gemm)
        best = std::max(best, point.tflops);
    EXPECT_EQ(cluster.peakTflops.at("fp32"), best);
    EXPECT_TRUE(cluster.link(true).assumed);
    EXPECT_EQ(cluster.link(true).latencyMicroseconds, 5);
    // Written under a temporary name and renamed: nothing else is left in the folder.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

TEST_F(Calibrate, SaysWhereItCouldNotWrite) {
    const Answer answer = calibrate("--this-machine --seconds 1 --out /proc/no/such/file.json", 2);
    EXPECT_EQ(answer.exitCode, 1);
    EXPECT_NE(answer.text.find("/proc/no"), std::string::npos);
}

}  // namespace
}  // namespace ballast
