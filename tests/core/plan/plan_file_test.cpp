// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/random.h"
#include "core/plan/plan_validation.h"
#include "tests/core/plan/plan_setup.h"

namespace ballast {
namespace {

using testing::badInput;
using ::testing::HasSubstr;
using testing::mixedLengths;
using testing::PlanFolder;

std::string bytesOf(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<PlanStep> writePlan(Planner& planner, const std::filesystem::path& file) {
    PlanWriter writer(file, planner.header());
    std::vector<PlanStep> steps;
    while (std::optional<PlanStep> step = planner.next()) {
        writer.write(*step);
        steps.push_back(std::move(*step));
    }
    writer.finish(planner.discards());
    return steps;
}

std::vector<PlanStep> readAll(PlanReader& reader) {
    std::vector<PlanStep> steps;
    while (std::optional<PlanStep> step = reader.next())
        steps.push_back(std::move(*step));
    return steps;
}

void readWhole(const std::filesystem::path& file) {
    PlanReader reader(file);
    readAll(reader);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The text without its checksums, as a person would write it.
std::string byHand(std::string text) {
    for (std::size_t at; (at = text.find(",\"crc32\":\"")) != std::string::npos;)
        text.erase(at, std::string_view(",\"crc32\":\"01234567\"").size());
    return text;
}

TEST(PlanFile, GivesBackEveryDecisionExactly) {
    PlanFolder folder(mixedLengths(3, 200));
    for (std::string_view packing : {"sequential", "greedy", "wlb"}) {
        Scenario scenario = folder.scenario(packing);
        scenario.lengths.overlong = OverlongPolicy::Truncate;
        scenario.training.learningRate = 0.1 + 0.2;
        Planner planner(scenario);
        std::filesystem::path file = folder.directory() / "plan.jsonl";
        std::vector<PlanStep> steps = writePlan(planner, file);
        PlanReader reader(file);
        EXPECT_EQ(reader.header().scenario, planner.header().scenario);
        EXPECT_EQ(reader.header().model, planner.header().model);
        EXPECT_EQ(reader.header().cluster, planner.header().cluster);
        EXPECT_EQ(reader.header().chosen, planner.header().chosen);
        EXPECT_EQ(reader.header().costModelVersion, CostModel::kVersion);
        EXPECT_EQ(reader.header().sourceDescription, planner.header().sourceDescription);
        EXPECT_EQ(reader.header().notices, planner.header().notices);
        std::vector<PlanStep> read = readAll(reader);
        EXPECT_EQ(testing::picturesOf(read), testing::picturesOf(steps));
        for (std::size_t i = 0; i < read.size(); ++i)
            EXPECT_EQ(read[i].packMilliseconds, steps[i].packMilliseconds);
        EXPECT_EQ(reader.discards(), planner.discards());
        EXPECT_FALSE(reader.discards().empty());
    }
}

TEST(PlanFile, OfAPublishedPresetAndModelGivesBackItsHeaderToo) {
    PlanFolder folder({1});
    Scenario scenario;
    scenario.steps = 1;
    Planner planner(scenario);
    std::filesystem::path file = folder.directory() / "plan.jsonl";
    std::vector<PlanStep> steps = writePlan(planner, file);
    PlanReader reader(file);
    EXPECT_EQ(reader.header().model, planner.header().model);
    EXPECT_EQ(reader.header().cluster, planner.header().cluster);
    EXPECT_EQ(testing::picturesOf(readAll(reader)), testing::picturesOf(steps));
}

TEST(PlanFile, AppearsWholeUnderItsNameOrNotAtAll) {
    PlanFolder folder({10, 20, 30});
    Planner planner(folder.scenario());
    std::filesystem::path file = folder.directory() / "sub" / "plan.jsonl";
    EXPECT_THAT(badInput([&] { PlanWriter(file, planner.header()); }), HasSubstr("sub/plan.jsonl"));
    std::filesystem::create_directory(file.parent_path());
    {
        PlanWriter writer(file, planner.header());
        writer.write(*planner.next());
        EXPECT_FALSE(std::filesystem::exists(file));
    }
    EXPECT_TRUE(std::filesystem::is_empty(file.parent_path())) << "a plan given up leaves nothing behind";
}

TEST(PlanFile, IsToldFromAScenarioByItsFirstBytes) {
    PlanFolder folder({10, 20, 30});
    Planner planner(folder.scenario());
    std::filesystem::path file = folder.directory() / "plan.jsonl";
    writePlan(planner, file);
    EXPECT_TRUE(looksLikePlan(file));
    EXPECT_FALSE(looksLikePlan(folder.directory().write("scenario.json", scenarioJson(folder.scenario()))));
    EXPECT_FALSE(looksLikePlan(folder.directory().write("empty", "")));
    EXPECT_FALSE(looksLikePlan(folder.directory() / "missing"));
    EXPECT_FALSE(looksLikePlan(folder.directory().path()));
}

class DamagedPlan : public ::testing::Test {
  protected:
    DamagedPlan() : folder_({10, 64, 30, 7, 100, 3}) {
        Scenario scenario = folder_.scenario("greedy", "per-document");
        scenario.lengths.overlong = OverlongPolicy::Truncate;
        scenario.lengths.order = DocumentOrder::Source;
        Planner planner(scenario);
        writePlan(planner, file_);
        bytes_ = bytesOf(file_);
    }

    std::string errorOf(const std::string& text) {
        folder_.directory().write("plan.jsonl", text);
        return badInput([&] { readWhole(file_); });
    }

    PlanFolder folder_;
    std::filesystem::path file_ = folder_.directory() / "plan.jsonl";
    std::string bytes_;
};

TEST_F(DamagedPlan, EveryTruncationIsAnErrorWithFileAndLine) {
    EXPECT_NO_THROW(readWhole(file_));
    for (std::size_t size = bytes_.size(); size-- > 0;) {
        std::filesystem::resize_file(file_, size);
        std::string sentence = badInput([&] { readWhole(file_); });
        ASSERT_THAT(sentence, HasSubstr(file_.string())) << size;
        ASSERT_TRUE(size == 0 || sentence.find("plan.jsonl:") != std::string::npos) << sentence;
    }
}

TEST_F(DamagedPlan, EveryFlippedBitIsAnErrorWithFileAndLine) {
    Random random(1);
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    auto put = [&](std::size_t at, int byte) {
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(byte));
        file.flush();
    };
    for (int round = 0; round < 1500; ++round) {
        auto at = static_cast<std::size_t>(random.below(bytes_.size()));
        put(at, bytes_[at] ^ (1 << random.below(8)));
        ASSERT_THAT(badInput([&] { readWhole(file_); }), HasSubstr("plan.jsonl:")) << at;
        put(at, bytes_[at]);
    }
    file.close();
    EXPECT_NO_THROW(readWhole(file_));
}

TEST_F(DamagedPlan, RandomBytesAreAnErrorAndNeverACrash) {
    Random random(2);
    for (int round = 0; round < 200; ++round) {
        std::string text = round % 2 ? byHand(bytes_) : bytes_;
        for (std::uint64_t i = 0; i <= random.below(20); ++i)
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        folder_.directory().write("plan.jsonl", text);
        try {
            readWhole(file_);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
        }
    }
}

TEST_F(DamagedPlan, APlanWithoutChecksumsIsTakenAsWrittenByHand) {
    EXPECT_EQ(errorOf(byHand(bytes_)), "");
    EXPECT_THAT(errorOf(replaced(bytes_, "\"crc32\":\"", "\"crc32\":\"f")), HasSubstr("plan.jsonl:1"));
}

TEST_F(DamagedPlan, LyingValuesAreNamedWithFileAndLine) {
    std::string plan = byHand(bytes_);
    struct Lie {
        std::string_view from, to, expected;
    };
    const Lie kLies[] = {
        {"\"version\":1", "\"version\":2", "plan.jsonl:1: version: expected 1 to 1"},
        {"\"format\":\"ballast-plan\"", "\"format\":\"other\"", "expected \"ballast-plan\""},
        {"\"cost_model_version\":", "\"cost_model_versions\":", "cost_model_version"},
        {"\"layout\":{\"tp\":1,\"cp\":2", "\"layout\":{\"tp\":1,\"cp\":3", "shards of 3"},
        {"\"layout\":{\"tp\":1", "\"layout\":{\"tp\":7", "layout.tp"},
        {"\"layout\":{\"tp\":1", "\"layout\":{\"tp\":4611686018427387904", "layout.tp"},
        {"\"hidden_size\":128", "\"hidden_size\":-128", "hidden_size"},
        {"\"thresholds\":[]", "\"thresholds\":[-5]", "chosen.thresholds"},
        {"{\"step\":0", "{\"step\":1", "plan.jsonl:2: step: expected 0, found 1"},
        {"{\"step\":0", "{\"step\":-1", "plan.jsonl:2: step"},
        {"{\"step\":0", "{\"steps\":0", "plan.jsonl:2: unknown key \"steps\""},
        {"\"kind\":\"partial", "\"kind\":\"part", "plan.jsonl:2: kind"},
        {"\"carried\":[", "\"carried\":[1,", "expected a list of 3 numbers"},
        {"{\"dp\":0,\"index\":0", "{\"dp\":2,\"index\":0", "expected dp from 0 to 1, found 2"},
        {"{\"dp\":1,\"index\":0", "{\"dp\":1,\"index\":1", "expected index 0, found 1"},
        {"{\"dp\":1,\"index\":0",
         R"({"dp":0,"index":2,"work":0,"documents":[],"sharding":"x","ranks":[[],[]]},{"dp":1,"index":0)",
         "expected an index below micro_batches=2"},
        {"\"documents\":[[", "\"documents\":[[9223372036854775807", "documents"},
        {"\"documents\":[[", "\"documents\":[[0,0,1,0,77],[", "expected"},
        {"\"ranks\":[[[0,", "\"ranks\":[[[99,", "expected a place below"},
        {"\"ranks\":[[[0,0,", "\"ranks\":[[[0,1,", "on 0 shards, expected 1"},
        {"\"ranks\":[[[0,0,", "\"ranks\":[[[0,0,1],[0,0,", "on 2 shards, expected 1"},
        {"\"ranks\":[[", "\"ranks\":[[],[", "expected shards of 2"},
        {"{\"end\":true", "{\"end\":false", "expected true"},
        {"{\"end\":true,\"steps\":1", "{\"end\":true,\"steps\":2", "expected 1 to 1, found 2"},
        {"\"discards\":[[", "\"discards\":[[1],[", "expected [document, begin, end, reason]"},
    };
    for (const Lie& lie : kLies)
        EXPECT_THAT(errorOf(replaced(plan, lie.from, lie.to)), HasSubstr(lie.expected))
            << lie.from << " -> " << lie.to;
}

TEST_F(DamagedPlan, OddShapesOfTextAreErrors) {
    EXPECT_THAT(errorOf(""), HasSubstr("empty file"));
    EXPECT_THAT(errorOf("\n"), HasSubstr("plan.jsonl:1"));
    EXPECT_THAT(errorOf(std::string(100000, '[') + "\n"), HasSubstr("plan.jsonl:1"));
    EXPECT_THAT(errorOf(bytes_ + "\n"), HasSubstr("expected nothing after the end line"));
    EXPECT_THAT(errorOf(bytes_ + bytes_), HasSubstr("expected nothing after the end line"));
    EXPECT_THAT(badInput([&] { PlanReader(folder_.directory() / "missing"); }), HasSubstr("missing"));
    EXPECT_THAT(badInput([&] { PlanReader(folder_.directory().path()); }), HasSubstr("folder"));
}

PlanStep smallStep() {
    PlanStep step;
    PlannedMicroBatch planned;
    planned.batch.pieces = {{4, 0, 10, 0, 0}, {5, 20, 25, 0, 1}};
    planned.batch.tokens = 15;
    planned.sharding = {"by hand", {{{4, 0, 10, 0, 10}}, {{5, 20, 25, 20, 25}}}};
    step.microBatches = {planned};
    return step;
}

TEST(PlanValidation, AcceptsACoveredStepAndNamesMicroBatchAndDocumentOfABrokenOne) {
    Layout layout{1, 2, 1, 1};
    EXPECT_NO_THROW(validatePlanStep(smallStep(), layout, "here"));
    auto faultOf = [&](auto change) {
        PlanStep step = smallStep();
        change(step);
        return badInput([&] { validatePlanStep(step, layout, "here"); });
    };
    EXPECT_THAT(
        faultOf([](PlanStep& step) { step.microBatches[0].sharding.ranks[1].clear(); }),
        HasSubstr("here: step 0: micro-batch 0 of dp 0: document 5: tokens 20 to 25 are on 0 shards"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].sharding.ranks[0][0].end = 9; }),
                HasSubstr("tokens 9 to 10 are on 0 shards"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].sharding.ranks[0][0].end = 11; }),
                HasSubstr("expected a slice inside 0 to 10"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].sharding.ranks[0][0].pieceBegin = 1; }),
                HasSubstr("names a piece 1 to 10"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].batch.tokens = 16; }),
                HasSubstr("expected 15 tokens"));
    EXPECT_THAT(faultOf([](PlanStep& step) {
                    step.microBatches[0].batch.pieces[1] = {4, 9, 14, 0, 1};
                }),
                HasSubstr("document"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].batch.pieces[1].order = 0; }),
                HasSubstr("piece 0 of the stream is in the step twice"));
    EXPECT_THAT(faultOf([](PlanStep& step) { step.microBatches[0].batch.work = -1; }), HasSubstr("work"));
    EXPECT_THAT(
        faultOf([](PlanStep& step) { step.microBatches[0].batch.pieces[0].end = std::int64_t{1} << 62; }),
        HasSubstr("document 4"));
}

TEST(PlanValidation, ARangeTwiceInAStepIsRefusedUnlessTheSourceComesRoundAgain) {
    PlanStep step = smallStep();
    PlannedMicroBatch again = step.microBatches[0];
    again.batch.index = 1;
    again.batch.pieces[0].order = 2;
    again.batch.pieces[1].order = 3;
    step.microBatches.push_back(again);
    EXPECT_THAT(badInput([&] {
                    validatePlanStep(step, {1, 2, 1, 1}, "here");
                }),
                HasSubstr("document 4: tokens 0 to 10 are in the step twice"));
    EXPECT_NO_THROW(validatePlanStep(step, {1, 2, 1, 1}, "here", 2));
}

}  // namespace
}  // namespace ballast
