// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/workload/csv_reader.h"
#include "core/workload/jsonl_reader.h"
#include "core/workload/length_source.h"
#include "core/workload/text_reader.h"
#include "tests/core/workload/error_sentence.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kTwoTo62 = std::int64_t{1} << 62;

Lengths csv(std::string_view text, std::string_view column = "") {
    return parseCsvLengths(text, ',', column, "x.csv");
}
Lengths json(std::string_view text, std::string_view field = "") {
    return parseJsonLengths(text, field, "x.jsonl");
}
std::string csvRefusal(std::string_view text, std::string_view column = "") {
    return errorSentence([&] { csv(text, column); });
}
std::string jsonRefusal(std::string_view text, std::string_view field = "") {
    return errorSentence([&] { json(text, field); });
}
std::string textRefusal(std::string_view text) {
    return errorSentence([&] { parseTextLengths(text, "x.txt"); });
}

TEST(TextReader, TakesOneNumberALineAndKeepsZeros) {
    EXPECT_EQ(parseTextLengths("0\n1\n0\n1", "x.txt"), (Lengths{0, 1, 0, 1}));
    EXPECT_EQ(parseTextLengths("\xEF\xBB\xBF 5\r\n\n7 \r\n", "x.txt"), (Lengths{5, 7}));
    EXPECT_EQ(parseTextLengths("", "x.txt"), Lengths{});
}

TEST(TextReader, NamesTheLineOfWhatIsNoLength) {
    EXPECT_THAT(textRefusal("1\n2\n-3\n"),
                HasSubstr("x.txt: line 3: length: expected a length of 0 or more"));
    EXPECT_THAT(textRefusal("1\n2.5\n"), HasSubstr("x.txt: line 2: length: expected a whole number"));
    EXPECT_THAT(textRefusal("1\n\n12 13\n"), HasSubstr("line 3"));
    EXPECT_THAT(textRefusal("1e3"), HasSubstr("line 1"));
    EXPECT_THAT(textRefusal("99999999999999999999"), HasSubstr("at most 2^62"));
    EXPECT_THAT(textRefusal(std::string_view("1\n\0002\n", 5)), HasSubstr("line 2"));
}

TEST(TextReader, KeepsTheSumBelowTwoToThe62) {
    const std::string most = std::to_string(kTwoTo62);
    EXPECT_EQ(parseTextLengths(most, "x.txt"), Lengths{kTwoTo62});
    EXPECT_THAT(textRefusal(most + "\n0\n1\n"),
                HasSubstr("x.txt: line 3: the lengths up to here sum to more"));
}

TEST(CsvReader, FindsAHeaderOrTakesTheFirstRow) {
    EXPECT_EQ(csv("tokens\n3\n5\n"), (Lengths{3, 5}));
    EXPECT_EQ(csv("3\n5\n"), (Lengths{3, 5}));
    EXPECT_EQ(csv(""), Lengths{});
    EXPECT_EQ(csv("tokens\n"), Lengths{});
}

TEST(CsvReader, TakesAColumnByNameOrByNumber) {
    EXPECT_EQ(csv("name,tokens\na,3\nb,5\n", "tokens"), (Lengths{3, 5}));
    EXPECT_EQ(csv("name,tokens\na,3\nb,5\n", "2"), (Lengths{3, 5}));
    EXPECT_EQ(csv("a,3\nb,5\n", "2"), (Lengths{3, 5}));
    EXPECT_EQ(parseCsvLengths("name\ttokens\na\t3\n", '\t', "tokens", "x.tsv"), Lengths{3});
}

TEST(CsvReader, UnderstandsQuotes) {
    EXPECT_EQ(csv("name,tokens\r\n\"a, \"\"b\"\"\nc\",3\r\nd,\"5\"\r\n", "tokens"), (Lengths{3, 5}));
    EXPECT_THAT(csvRefusal("name,tokens\n\"a\n,3\n", "tokens"),
                HasSubstr("line 2: expected a closing quote"));
    EXPECT_THAT(csvRefusal("name,tokens\n\"a\"b,3\n", "tokens"), HasSubstr("line 2: expected a separator"));
}

TEST(CsvReader, CountsLinesInsideQuotesWhenItNamesALine) {
    EXPECT_THAT(csvRefusal("name,tokens\n\"a\n\n\",3\nb,-1\n", "tokens"), HasSubstr("line 5: column tokens"));
}

TEST(CsvReader, AsksForAColumnWhenThereAreSeveral) {
    EXPECT_THAT(csvRefusal("name,tokens\na,3\n"),
                HasSubstr("line 1: 2 columns (name, tokens); name one as PATH#COLUMN"));
    EXPECT_THAT(csvRefusal("name,tokens\na,3\n", "bytes"),
                HasSubstr("no column \"bytes\"; there are: name, tokens"));
    EXPECT_THAT(csvRefusal("name,tokens\na,3\n", "3"), HasSubstr("no column 3; the row has columns 1 to 2"));
}

TEST(CsvReader, RefusesRaggedRowsAndBadCellsWithTheirLine) {
    EXPECT_THAT(csvRefusal("name,tokens\na,3\nb\n", "tokens"), HasSubstr("line 3: expected 2 cells"));
    EXPECT_THAT(csvRefusal("tokens\n3\n1,234\n"), HasSubstr("line 3: expected 1 cells"));
    EXPECT_THAT(csvRefusal("name,tokens\na,3\nb,\n", "tokens"),
                HasSubstr("line 3: column tokens: expected a whole"));
    EXPECT_THAT(csvRefusal("tokens\n3\n4.5\n"), HasSubstr("line 3: column tokens: expected a whole"));
    EXPECT_THAT(csvRefusal("-4\n3\n"), HasSubstr("line 1: column 1: expected a length of 0 or more"));
}

TEST(JsonLinesReader, TakesNumbersAndSizes) {
    EXPECT_EQ(json("{\"n\": 3}\n{\"n\": 0}\n"), (Lengths{3, 0}));
    EXPECT_EQ(json("{\"id\": 7, \"ids\": [1, [2, 3], {\"a\": [4]}, null]}\n{\"ids\": [], \"id\": 1}", "ids"),
              (Lengths{4, 0}));
    EXPECT_EQ(json("4\n[1,2]\n\"abc\"\n"), (Lengths{4, 2, 3}));
    EXPECT_EQ(json(""), Lengths{});
}

TEST(JsonLinesReader, CountsTheBytesOfAString) {
    EXPECT_EQ(json("{\"text\": \"\"}\n{\"text\": \"na\\u00efve\"}\n"), (Lengths{0, 6}));
}

TEST(JsonLinesReader, LooksAtTheOutermostFieldsAlone) {
    EXPECT_EQ(json("{\"meta\": {\"n\": 9, \"x\": [1]}, \"n\": 3}", "n"), Lengths{3});
    EXPECT_THAT(jsonRefusal("{\"meta\": {\"n\": 9}}", "n"), HasSubstr("line 1: no field \"n\""));
}

TEST(JsonLinesReader, NamesTheLineOfWhatItCannotTake) {
    EXPECT_THAT(jsonRefusal("{\"n\": 3}\n{\"n\": 3\n{\"n\": 3}\n"),
                HasSubstr("x.jsonl: line 2: broken JSON"));
    EXPECT_THAT(jsonRefusal("{\"n\": 3}\n{\"m\": 3}"), HasSubstr("line 2: no field \"n\""));
    EXPECT_THAT(jsonRefusal("{\"n\": 3, \"m\": 4}"), HasSubstr("line 1: 2 fields; name one as PATH#FIELD"));
    EXPECT_THAT(jsonRefusal("{\"n\": 3}\n{\"n\": -1}"), HasSubstr("line 2: expected a length of 0 or more"));
    EXPECT_THAT(jsonRefusal("{\"n\": 2.5}"), HasSubstr("found 2.5"));
    EXPECT_THAT(jsonRefusal("{\"n\": null}"), HasSubstr("found null"));
    EXPECT_THAT(jsonRefusal("{\"n\": {}}"), HasSubstr("found an object"));
    EXPECT_THAT(jsonRefusal("{\"n\": 3, \"n\": 4}", "n"), HasSubstr("\"n\" is there twice"));
    EXPECT_THAT(jsonRefusal("{}"), HasSubstr("line 1: an empty object"));
    EXPECT_THAT(jsonRefusal("{\"n\": 18446744073709551615}"), HasSubstr("more than 2^62"));
    EXPECT_THAT(jsonRefusal("{\"n\": 1e400}"), HasSubstr("line 1"));
    EXPECT_THAT(jsonRefusal("[1]\n", "n"), HasSubstr("line 1: expected an object with field \"n\""));
    EXPECT_THAT(jsonRefusal("{\"n\": \"\xFF\"}"), HasSubstr("line 1: broken JSON"));
}

TEST(JsonLinesReader, IsNotHurtByDeepNesting) {
    const std::string deep(200000, '[');
    EXPECT_THAT(jsonRefusal(deep), HasSubstr("line 1: broken JSON"));
    EXPECT_EQ(json(deep + std::string(200000, ']')), Lengths{1});
}

TEST(LengthSource, OpensEachFormatByItsExtensionWithItsName) {
    TemporaryFolder folder;
    const std::string table = folder.write("a.csv", "name,tokens\na,3\n");
    const std::string lines = folder.write("b.jsonl", "{\"x\": 1, \"tokens\": [1,2]}\n");
    const std::string plain = folder.write("c.txt", "7\n8\n");
    const std::vector<std::string> source = {table + "#tokens", lines + "#tokens", plain};
    const auto joined = openLengthSource(source, 1);
    Lengths lengths;
    for (std::int64_t document = 0; document < *joined->documents(); ++document)
        lengths.push_back(joined->length(document));
    EXPECT_EQ(lengths, (Lengths{3, 2, 7, 8}));
}

TEST(LengthSource, ReportsEmptyTextFilesAsNoDocuments) {
    TemporaryFolder folder;
    for (const std::string name : {"a.csv", "a.tsv", "a.jsonl", "a.txt"}) {
        const std::vector<std::string> source = {folder.write(name, "")};
        const auto opened = openLengthSource(source, 1);
        EXPECT_EQ(opened->documents(), 0);
        EXPECT_EQ(opened->notices(), std::vector<std::string>{source[0] + ": no documents"});
    }
}

TEST(LengthSource, RefusesWhatIsNoSourceByName) {
    TemporaryFolder folder;
    const auto refusal = [&](const std::vector<std::string>& source) {
        return errorSentence([&] { openLengthSource(source, 1); });
    };
    EXPECT_THAT(refusal({folder.write("a.parquet", "x")}), HasSubstr("\".parquet\" is no format of lengths"));
    EXPECT_THAT(refusal({folder.write("a.bin", "x")}), HasSubstr("name the .idx beside it"));
    EXPECT_THAT(refusal({folder.write("a.txt", "1") + "#x"}), HasSubstr("only .csv, .tsv and .jsonl"));
    EXPECT_THAT(refusal({"wlb-129k"}), HasSubstr("\"wlb-129k\": no such file, and no length preset"));
    EXPECT_THAT(refusal({folder.path().string()}), HasSubstr("expected a regular file"));
    EXPECT_THAT(refusal({"wlb-128k", folder.file("a.txt")}), HasSubstr("a preset never ends"));
    EXPECT_THAT(refusal({}), HasSubstr("lengths.source"));
}

TEST(LengthSource, KeepsTheSumOverSeveralFilesBelowTwoToThe62) {
    TemporaryFolder folder;
    const std::string half = folder.write("half.txt", std::to_string(kTwoTo62));
    const std::vector<std::string> source = {half, half};
    EXPECT_THAT(errorSentence([&] { openLengthSource(source, 1); }), HasSubstr("more than 2^62 tokens"));
}

}  // namespace
}  // namespace ballast
