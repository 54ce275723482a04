// SPDX-License-Identifier: Apache-2.0
// `ballast lengths` and `ballast scan`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/app/cli/command_line.h"
#include "tests/core/workload/idx_bytes.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string kIdx = std::string(BALLAST_TEST_DATA) + "/core/workload/data/idx/";

json lengths(const Words& source) {
    Words words = {"lengths"};
    words.insert(words.end(), source.begin(), source.end());
    words.push_back("--json");
    return json::parse(answerOf(words));
}

void expectRefusal(const Words& source, const std::string& part) {
    Words words = {"lengths"};
    words.insert(words.end(), source.begin(), source.end());
    words.push_back("--json");
    const CommandResult result = ballast(words);
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(part));
}

TEST(Lengths, AnswersUnderTheStatedNames) {
    TemporaryFolder folder;
    const json answer = lengths({folder.write("a.txt", "0\n1\n0\n1\n10\n"), "--window", "8"});
    EXPECT_EQ(answer.at("documents"), 5);
    EXPECT_EQ(answer.at("empty"), 2);
    EXPECT_EQ(answer.at("tokens"), 12);
    EXPECT_DOUBLE_EQ(answer.at("mean"), 2.4);
    EXPECT_DOUBLE_EQ(answer.at("token_weighted_mean"), 102.0 / 12);
    EXPECT_EQ(answer.at("percentiles").at("50"), 1);
    EXPECT_EQ(answer.at("percentiles").at("99.9"), 10);
    EXPECT_EQ(answer.at("max"), 10);
    EXPECT_EQ(answer.at("overlong"), (json{{"documents", 1}, {"tokens", 10}}));
    EXPECT_EQ(answer.at("buckets").at(2),
              (json{{"from", 8}, {"to", 16}, {"documents", 1}, {"tokens", 10}, {"attention_work", 55.0}}));
    EXPECT_FALSE(answer.contains("unigram_entropy_nats"));
}

TEST(Lengths, GivesTheEntropyOfTokensFromAFile) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({2, 2}, 1, 1).bytes());
    folder.write("a.bin", "abab");
    EXPECT_NEAR(lengths({index}).at("unigram_entropy_nats").get<double>(), std::log(2), 1e-12);
    folder.write("a.bin", "aba");
    expectRefusal({index}, "a.bin: truncated .bin: its index needs 4 bytes, the file ends at byte 3");
}

TEST(Lengths, CountsZeroLengthDocuments) {
    EXPECT_EQ(lengths({kIdx + "zero_len_docs.idx"}).at("empty"), 2);
    TemporaryFolder folder;
    const json answer = lengths({folder.write("a.jsonl", "{\"text\": \"\"}\n{\"text\": \"abc\"}\n")});
    EXPECT_EQ(answer.at("documents"), 2);
    EXPECT_EQ(answer.at("empty"), 1);
    EXPECT_EQ(answer.at("tokens"), 3);
}

TEST(Lengths, RefusesAZeroByteIndexAndTakesAValidEmptyOneWithANotice) {
    expectRefusal({kIdx + "bad_zero_bytes.idx"}, "bad_zero_bytes.idx: empty file, expected a 34-byte header");
    expectRefusal({kIdx + "ok_int32.idx", kIdx + "bad_zero_bytes.idx", kIdx + "ok_int32.idx"},
                  "bad_zero_bytes.idx: empty file, expected a 34-byte header");
    const json answer = lengths({kIdx + "ok_int32.idx", kIdx + "empty_dataset.idx", kIdx + "ok_int32.idx"});
    EXPECT_EQ(answer.at("documents"), 6);
    EXPECT_EQ(answer.at("notices"), json::array({kIdx + "empty_dataset.idx: no documents"}));
    TemporaryFolder folder;
    for (const std::string name : {"a.jsonl", "a.csv", "a.txt"}) {
        const CommandResult empty = ballast({"lengths", folder.write(name, "")});
        EXPECT_EQ(empty.exitCode, 0);
        EXPECT_THAT(empty.errors, HasSubstr(name + ": no documents"));
    }
}

TEST(Lengths, SayWhatIsWrongWithAFileAndWhere) {
    expectRefusal({kIdx + "bad_bad_magic.idx"}, "magic at byte 0");
    expectRefusal({kIdx + "bad_bad_version.idx"}, "version at byte 9: expected 1, found 2");
    expectRefusal({kIdx + "bad_bad_dtype_code.idx"}, "dtype at byte 17");
    expectRefusal({kIdx + "bad_count_too_big.idx"}, "sequence count at byte 18");
    expectRefusal({kIdx + "bad_negative_length.idx"}, "length of sequence 0 at byte 34");
    TemporaryFolder folder;
    expectRefusal({folder.write("a.jsonl", "{\"n\": 1}\n{\"n\": \n{\"n\": 3}\n")},
                  "a.jsonl: line 2: broken JSON");
}

TEST(Scan, MakesADataSetThatLengthsReads) {
    TemporaryFolder folder;
    folder.write("in/a", "first file\n");
    folder.write("in/b", std::string("bin\0ary", 7));
    folder.write("in/c", std::string(300, 'x'));
    folder.write("in/d", "last file\n");
    const std::string in = (folder.path() / "in").string();
    const json scanned = json::parse(answerOf(
        {"scan", in, "--out", folder.file("out"), "--window", "100", "--max-tokens", "5", "--json"}));
    EXPECT_EQ(scanned.at("documents"), 1);
    EXPECT_EQ(scanned.at("beyond_cap").at("files"), 3);
    const std::string text = answerOf({"scan", in, "--out", folder.file("out"), "--window", "100"});
    EXPECT_THAT(text, HasSubstr("3 documents, 321 tokens (bytes) from 3 text files"));
    EXPECT_THAT(text, HasSubstr("1 binary"));
    EXPECT_THAT(text,
                HasSubstr("longer than the window of 100 tokens: 1 documents with 300 tokens (93.5 %)"));
    EXPECT_EQ(lengths({folder.file("out.idx")}).at("tokens"), 321);
    answerOf({"scan", in, "--out", folder.file("cut"), "--lengths", "wlb-4k"});
    EXPECT_EQ(lengths({folder.file("cut.idx")}).at("tokens"), 321);
    const CommandResult refused = ballast({"scan", folder.file("absent"), "--out", folder.file("x")});
    EXPECT_EQ(refused.exitCode, 2);
    EXPECT_THAT(refused.errors, HasSubstr("absent: expected a folder"));
}

}  // namespace
}  // namespace ballast::testing
