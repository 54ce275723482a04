// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/job/scenario.h"

namespace ballast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string sentenceOf(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        return error.what();
    }
    return "no error";
}

std::string parseSentence(const std::string& json) {
    return sentenceOf([&] { parseScenario(json, "job.json"); });
}

TEST(ScenarioErrors, AnUnknownKeyNamesTheFileTheKeyAndTheNearestKey) {
    struct Case {
        std::string json, key, nearest;
    };
    const Case cases[] = {
        {R"({"modle":"demo"})", "\"modle\"", "\"model\""},
        {R"({"packing":{"stratgy":"wlb"}})", "\"packing.stratgy\"", "\"packing.strategy\""},
        {R"({"lengths":{"windows":8}})", "\"lengths.windows\"", "\"lengths.window\""},
        {R"({"window":8})", "\"window\"", "\"lengths.window\""},
        {R"({"packing":{"exchange":"all-gather"}})", "\"packing.exchange\"", "\"sharding.exchange\""},
        {R"({"layout":{"ep":2}})", "\"layout.ep\"", "\"layout.tp\""},
        {R"({"training":{"lr":2}})", "\"training.lr\"", "the nearest key is"},
        {R"({"microbatches":2})", "\"microbatches\"", "\"micro_batches\""},
        {R"({"":2})", "\"\"", "the nearest key is"},
    };
    for (const Case& c : cases)
        EXPECT_THAT(parseSentence(c.json),
                    AllOf(HasSubstr("job.json: unknown key"), HasSubstr(c.key), HasSubstr(c.nearest)))
            << c.json;
}

TEST(ScenarioErrors, AWrongTypeNamesTheKeyWhatWasFoundAndWhatWasExpected) {
    struct Case {
        std::string json, key, found;
    };
    const Case cases[] = {
        {R"([])", "the file", "expected an object, found a list"},
        {R"({"lengths":3})", "lengths", "expected an object"},
        {R"({"lengths":{"source":3}})", "lengths.source", "expected a preset, a path or a list"},
        {R"({"lengths":{"source":[3]}})", "lengths.source[0]", "expected a string"},
        {R"({"lengths":{"window":"8"}})", "lengths.window", "expected a whole number, found a string"},
        {R"({"lengths":{"window":8.5}})", "lengths.window", "expected a whole number, found a number (8.5)"},
        {R"({"lengths":{"seed":true}})", "lengths.seed", "expected a whole number"},
        {R"({"model":3})", "model", "expected a string"},
        {R"({"layout":{"tp":null}})", "layout.tp", "expected a whole number, found null"},
        {R"({"steps":"all"})", "steps", "expected null or a whole number"},
        {R"({"schedule":{"stages":4}})", "schedule.stages", "expected a list"},
        {R"({"schedule":{"stages":[4,"x"]}})", "schedule.stages[1]", "expected a whole number"},
        {R"({"packing":{"thresholds":"none"}})", "packing.thresholds", "expected auto or a list"},
        {R"({"packing":{"thresholds":[1.5]}})", "packing.thresholds[0]", "expected a whole number"},
        {R"({"packing":{"max_tokens":"big"}})", "packing.max_tokens", "expected auto or a whole number"},
        {R"({"packing":{"delay_budget_steps":"x"}})", "packing.delay_budget_steps", "expected a number"},
        {R"({"cost":{"crossover_tokens":"x"}})", "cost.crossover_tokens", "expected null or a whole number"},
        {R"({"training":{"beta1":"x"}})", "training.beta1", "expected a number"},
    };
    for (const Case& c : cases)
        EXPECT_THAT(parseSentence(c.json), AllOf(HasSubstr("job.json: " + c.key + ": "), HasSubstr(c.found)))
            << c.json;
}

TEST(ScenarioErrors, AValueOutOfRangeNamesTheRange) {
    struct Case {
        std::string json, key, range;
    };
    const Case cases[] = {
        {R"({"lengths":{"window":0}})", "lengths.window", "expected 1 to 2147483648, found 0"},
        {R"({"lengths":{"window":2147483649}})", "lengths.window", "expected 1 to 2147483648"},
        {R"({"lengths":{"window":18446744073709551615}})", "lengths.window", "expected 1 to 2147483648"},
        {R"({"lengths":{"seed":-1}})", "lengths.seed", "expected 0 to"},
        {R"({"lengths":{"epochs":0}})", "lengths.epochs", "expected 1 to"},
        {R"({"lengths":{"overlong":"cut"}})", "lengths.overlong", "expected one of split, truncate, drop"},
        {R"({"lengths":{"source":[]}})", "lengths.source", "expected 1 to"},
        {R"({"lengths":{"source":""}})", "lengths.source", "empty string"},
        {R"({"layout":{"cp":0}})", "layout.cp", "expected 1 to 65536, found 0"},
        {R"({"layout":{"dp":65537}})", "layout.dp", "expected 1 to 65536"},
        {R"({"micro_batches":0})", "micro_batches", "expected 1 to 65536"},
        {R"({"steps":-1})", "steps", "expected 0 to"},
        {R"({"schedule":{"kind":"dualpipe"}})", "schedule.kind", "gpipe, 1f1b, interleaved, zb-h1"},
        {R"({"schedule":{"virtual_stages":0}})", "schedule.virtual_stages", "expected 1 to"},
        {R"({"packing":{"strategy":"gredy"}})", "packing.strategy", "the nearest is \"greedy\""},
        {R"({"packing":{"queues":-1}})", "packing.queues", "expected 0 to 64"},
        {R"({"packing":{"thresholds":[0]}})", "packing.thresholds[0]", "expected 1 to"},
        {R"({"packing":{"max_tokens":0}})", "packing.max_tokens", "expected 1 to"},
        {R"({"packing":{"delay_budget_steps":-0.5}})", "packing.delay_budget_steps", "expected 0 to"},
        {R"({"packing":{"batches":0}})", "packing.batches", "expected 1 to"},
        {R"({"packing":{"time_limit_s":0}})", "packing.time_limit_s", "expected 0.001 to"},
        {R"({"packing":{"align":0}})", "packing.align", "expected 1 to"},
        {R"({"packing":{"max_documents":0}})", "packing.max_documents", "expected 1 to"},
        {R"({"sharding":{"strategy":"ring"}})", "sharding.strategy", "expected one of per-sequence"},
        {R"({"sharding":{"exchange":"ring"}})", "sharding.exchange",
         "expected one of all-gather, need-based"},
        {R"({"cost":{"model":"linear"}})", "cost.model", "expected one of calibrated, quadratic"},
        {R"({"recompute":"some"})", "recompute", "expected one of none, selective, full"},
        {R"({"zero":4})", "zero", "expected 0 to 3"},
        {R"({"precision":"fp8"})", "precision", "expected one of auto, fp32, bf16"},
        {R"({"training":{"learning_rate":-1}})", "training.learning_rate", "expected 0 to"},
        {R"({"training":{"beta2":1}})", "training.beta2", "expected 0 to"},
        {R"({"training":{"clip_norm":0}})", "training.clip_norm", "expected 1e-30 to"},
        {R"({"training":{"total_steps":0}})", "training.total_steps", "expected 1 to"},
    };
    for (const Case& c : cases)
        EXPECT_THAT(parseSentence(c.json), AllOf(HasSubstr("job.json: " + c.key + ": "), HasSubstr(c.range)))
            << c.json;
}

TEST(ScenarioErrors, ValuesThatContradictEachOtherAreRefused) {
    struct Case {
        std::string json, sentence;
    };
    const Case cases[] = {
        {R"({"layout":{"tp":65536,"cp":65536,"dp":65536,"pp":65536}})", "at most 1048576"},
        {R"({"layout":{"tp":1,"cp":1,"dp":65536,"pp":1},"micro_batches":65536})", "micro_batches"},
        {R"({"packing":{"thresholds":[5,5]}})", "strictly ascending values, found 5 after 5"},
        {R"({"packing":{"thresholds":[9,5]}})", "strictly ascending"},
        {R"({"packing":{"queues":1,"thresholds":[5,9]}})", "2 thresholds for 1 queues"},
        {R"({"packing":{"queues":7}})", "thresholds auto serves at most 6 queues"},
        {R"({"layout":{"pp":2},"schedule":{"stages":[1,2,3]}})", "expected 2 numbers, one a stage, found 3"},
        {R"({"cost":{"model":"quadratic"}})", "cost.crossover_tokens"},
        {R"({"training":{"learning_rate":1e-5}})", "training.min_learning_rate"},
    };
    for (const Case& c : cases)
        EXPECT_THAT(parseSentence(c.json), AllOf(HasSubstr("job.json: "), HasSubstr(c.sentence))) << c.json;
}

TEST(ScenarioErrors, BrokenJsonNamesLineAndByte) {
    EXPECT_THAT(parseSentence("{\n \"model\": \"demo\",\n \"steps\": ,\n}"),
                AllOf(HasSubstr("job.json: line 3, byte 30"), HasSubstr("not valid JSON")));
    EXPECT_THAT(parseSentence(""), HasSubstr("job.json"));
    EXPECT_THAT(parseSentence("{} {}"), HasSubstr("byte 3"));
    EXPECT_THAT(parseSentence(R"({"model":"a","model":"b"})"), HasSubstr("appears twice"));
    EXPECT_THAT(parseSentence(std::string(100000, '[')), HasSubstr("levels deep"));
    EXPECT_THAT(parseSentence("{\"zero\": 1e999}"), HasSubstr("job.json"));
    EXPECT_THAT(parseSentence("{\"model\": \"\xff\"}"), HasSubstr("not valid JSON"));
}

TEST(ScenarioErrors, ABadAssignmentSaysWhyAndChangesNothing) {
    Scenario scenario;
    const auto sentence = [&](std::string_view assignment) {
        return sentenceOf([&] { setScenarioValue(scenario, assignment); });
    };
    EXPECT_THAT(sentence("packing.strategy"), HasSubstr("expected key=value"));
    EXPECT_THAT(sentence("=3"), HasSubstr("expected key=value"));
    EXPECT_THAT(sentence("packing.stratgy=wlb"), HasSubstr("\"packing.strategy\""));
    EXPECT_THAT(sentence("packing.strategy.x=1"), HasSubstr("one or two names"));
    EXPECT_THAT(sentence("model.x=1"), HasSubstr("no keys"));
    EXPECT_THAT(sentence("zero=9"), HasSubstr("expected 0 to 3"));
    EXPECT_THAT(sentence("layout=3"), HasSubstr("expected an object"));
    EXPECT_THAT(sentence("model=\xff"), HasSubstr("UTF-8"));
    EXPECT_EQ(scenario, Scenario());
}

TEST(ScenarioErrors, SeveralAssignmentsMayPassThroughAContradictionButNotEndInOne) {
    Scenario scenario;
    setScenarioValues(scenario, {"cost.model=quadratic", "cost.crossover_tokens=46000"});
    EXPECT_EQ(scenario.cost.crossoverTokens, 46000);
    const Scenario before = scenario;
    EXPECT_THAT(sentenceOf([&] {
                    setScenarioValues(scenario, {"packing.thresholds=[5,9]", "packing.queues=1"});
                }),
                HasSubstr("2 thresholds for 1 queues"));
    EXPECT_EQ(scenario, before);
}

TEST(ScenarioErrors, WhatIsNotBuiltIsRefusedByName) {
    struct Case {
        std::string assignment, sentence;
    };
    const Case cases[] = {
        {"recompute=selective", "run: recompute=selective is not built yet; use none"},
        {"zero=1", "run: zero=1 is not built yet; use 0"},
        {"schedule.virtual_stages=2", "run: schedule.virtual_stages=2 is not built yet; use 1"},
        {"schedule.kind=gpipe", "run: schedule.kind=gpipe is not built yet; use 1f1b"},
        {"schedule.kind=zb-h1", "run: schedule.kind=zb-h1 is not built yet; use 1f1b"},
        {"packing.strategy=refined", "run: packing.strategy=refined is not built yet"},
        {"precision=bf16", "run: precision=bf16 is not built yet; use fp32"},
    };
    for (const Case& c : cases) {
        Scenario scenario;
        setScenarioValue(scenario, c.assignment);
        EXPECT_THAT(sentenceOf([&] { refuseUnbuilt(scenario, "run"); }), HasSubstr(c.sentence))
            << c.assignment;
    }
    EXPECT_NO_THROW(refuseUnbuilt(Scenario(), "run"));
}

TEST(ScenarioErrors, SequentialPackingNeedsPiecesCutAtTheWindow) {
    Scenario scenario;
    setScenarioValue(scenario, "lengths.cut=none");
    EXPECT_NO_THROW(refuseUnbuilt(scenario, "pack"));
    setScenarioValue(scenario, "packing.strategy=sequential");
    EXPECT_THAT(sentenceOf([&] { refuseUnbuilt(scenario, "pack"); }), HasSubstr("needs cut: window"));
}

TEST(ScenarioErrors, DamagedTextIsRefusedOrReadAndNeverCrashes) {
    const std::string whole = scenarioJson(Scenario());
    const auto survives = [](const std::string& text) {
        try {
            parseScenario(text, "damaged");
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("damaged"));
        }
    };
    for (std::size_t length = 0; length < whole.size(); ++length)
        survives(whole.substr(0, length));
    Random random(5);
    for (int i = 0; i < 5000; ++i) {
        std::string flipped = whole;
        for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips)
            flipped[random.below(flipped.size())] ^= static_cast<char>(1 << random.below(8));
        survives(flipped);
    }
}

}  // namespace
}  // namespace ballast
