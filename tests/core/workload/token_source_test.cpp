// SPDX-License-Identifier: Apache-2.0
#include "core/workload/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/workload/error_sentence.h"
#include "tests/core/workload/idx_bytes.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using Ids = std::vector<std::int64_t>;

LengthsOptions optionsFor(std::vector<std::string> source, std::uint64_t seed = 1) {
    LengthsOptions options;
    options.source = std::move(source);
    options.seed = seed;
    return options;
}

Ids readIds(const TokenSource& tokens, std::int64_t document, std::int64_t begin, std::size_t count) {
    Ids ids(count);
    tokens.read(document, begin, ids);
    return ids;
}

template <class Id>
std::string binBytes(const Ids& ids) {
    std::string bytes;
    for (const std::int64_t id : ids)
        IdxBytes::put(bytes, static_cast<Id>(id));
    return bytes;
}

template <class Id>
void expectReadsBack(std::uint8_t dtype) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({3, 2}, dtype, sizeof(Id)).bytes());
    folder.write("a.bin", binBytes<Id>({1, 2, 100, 4, 5}));
    const auto tokens = openTokenSource(optionsFor({index}), 101);
    EXPECT_TRUE(tokens->fromFile());
    EXPECT_EQ(readIds(*tokens, 0, 0, 3), (Ids{1, 2, 100}));
    EXPECT_EQ(readIds(*tokens, 0, 2, 1), (Ids{100}));
    EXPECT_EQ(readIds(*tokens, 1, 0, 2), (Ids{4, 5}));
    tokens->checkAll();
    const std::string path = folder.file("a.bin");
    const auto narrow = openTokenSource(optionsFor({index}), 100);
    const std::string expected = path + ": token at byte " + std::to_string(2 * sizeof(Id)) +
                                 ": expected an id from 0 to 99, found 100";
    EXPECT_EQ(errorSentence([&] { readIds(*narrow, 0, 0, 3); }), expected);
    EXPECT_EQ(errorSentence([&] { narrow->checkAll(); }), expected);
    EXPECT_EQ(readIds(*narrow, 0, 0, 2), (Ids{1, 2}));
}

TEST(TokenSource, ReadsEveryIntegerTypeOfMegatronAndChecksTheVocabulary) {
    expectReadsBack<std::uint8_t>(1);
    expectReadsBack<std::int8_t>(2);
    expectReadsBack<std::int16_t>(3);
    expectReadsBack<std::int32_t>(4);
    expectReadsBack<std::int64_t>(5);
    expectReadsBack<std::uint16_t>(8);
}

TEST(TokenSource, RefusesNegativeIdsAndFloatTypes) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({2}, 4, 4).bytes());
    folder.write("a.bin", binBytes<std::int32_t>({7, -1}));
    const auto tokens = openTokenSource(optionsFor({index}), 100);
    EXPECT_THAT(errorSentence([&] { readIds(*tokens, 0, 0, 2); }),
                HasSubstr("a.bin: token at byte 4: expected"));
    const std::string floats = folder.write("f.idx", plainIdx({2}, 7, 4).bytes());
    folder.write("f.bin", std::string(8, '\0'));
    EXPECT_THAT(errorSentence([&] { openTokenSource(optionsFor({floats}), 100); }),
                HasSubstr("f.idx: dtype at byte 17: expected integers, found float32"));
}

TEST(TokenSource, FollowsThePointerTableAcrossSequences) {
    TemporaryFolder folder;
    IdxBytes idx{1, {3, 0, 2, 4}, {6, 0, 0, 2}, {0, 3, 4}};
    const std::string index = folder.write("a.idx", idx.bytes());
    folder.write("a.bin", std::string("\x14\x15\x1e\x1f\x20\x21\x0a\x0b\x0c", 9));
    const auto tokens = openTokenSource(optionsFor({index}), 256);
    EXPECT_EQ(readIds(*tokens, 0, 0, 5), (Ids{10, 11, 12, 20, 21}));
    EXPECT_EQ(readIds(*tokens, 0, 2, 2), (Ids{12, 20}));
    EXPECT_EQ(readIds(*tokens, 0, 4, 1), (Ids{21}));
    EXPECT_EQ(readIds(*tokens, 1, 1, 3), (Ids{31, 32, 33}));
    EXPECT_EQ(readIds(*tokens, 1, 4, 0), Ids{});
    EXPECT_THAT(errorSentence([&] { readIds(*tokens, 0, 3, 3); }), HasSubstr("document 0 has 5 tokens"));
    EXPECT_EQ(errorSentence([&] { readIds(*tokens, 2, 0, 1); }), "lengths.source has no document 2");
}

TEST(TokenSource, RefusesATruncatedBinWithItsEnd) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({3, 2}, 4, 4).bytes());
    folder.write("a.bin", std::string(19, '\0'));
    EXPECT_EQ(errorSentence([&] { openTokenSource(optionsFor({index}), 100); }),
              folder.file("a.bin") + ": truncated .bin: its index needs 20 bytes, the file ends at byte 19");
}

TEST(TokenSource, JoinsFilesInTheOrderOfTheirLengths) {
    TemporaryFolder folder;
    const std::string a = folder.write("a.idx", plainIdx({1, 1}, 1, 1).bytes());
    folder.write("a.bin", "ab");
    const std::string b = folder.write("b.idx", plainIdx({2}, 8, 2).bytes());
    folder.write("b.bin", binBytes<std::uint16_t>({500, 501}));
    const auto tokens = openTokenSource(optionsFor({a, b}), 502);
    EXPECT_EQ(readIds(*tokens, 1, 0, 1), Ids{'b'});
    EXPECT_EQ(readIds(*tokens, 2, 0, 2), (Ids{500, 501}));
    const std::string lengths = folder.write("c.txt", "3\n");
    EXPECT_THAT(errorSentence([&] {
                    openTokenSource(optionsFor({a, lengths}), 502);
                }),
                HasSubstr("c.txt has no .bin beside it, but others do"));
}

TEST(TokenSource, DrawsSyntheticIdsFromSeedDocumentAndPosition) {
    TemporaryFolder folder;
    const std::string lengths = folder.write("a.txt", "1000\n1000\n");
    const auto tokens = openTokenSource(optionsFor({lengths}), 50);
    EXPECT_FALSE(tokens->fromFile());
    const Ids whole = readIds(*tokens, 0, 0, 1000);
    EXPECT_EQ(readIds(*tokens, 0, 400, 3), Ids(whole.begin() + 400, whole.begin() + 403));
    EXPECT_NE(whole, readIds(*tokens, 1, 0, 1000));
    EXPECT_NE(whole, readIds(*openTokenSource(optionsFor({lengths}, 2), 50), 0, 0, 1000));
    Ids counts(50);
    for (const std::int64_t id : whole)
        ++counts.at(static_cast<std::size_t>(id));
    for (const std::int64_t count : counts)
        EXPECT_NEAR(static_cast<double>(count), 20, 25);
    EXPECT_THAT(errorSentence([&] { readIds(*tokens, 0, 999, 2); }), HasSubstr("document 0 has 1000 tokens"));
    EXPECT_THAT(errorSentence([&] { readIds(*tokens, 2, 0, 1); }), HasSubstr("no document 2"));
}

TEST(TokenSource, TakesAnIndexWithoutItsBinAsLengths) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({3}, 4, 4).bytes());
    EXPECT_FALSE(openTokenSource(optionsFor({index}), 100)->fromFile());
}

TEST(UnigramEntropy, IsThatOfTheCounts) {
    TemporaryFolder folder;
    const std::string index = folder.write("a.idx", plainIdx({3, 5}, 1, 1).bytes());
    folder.write("a.bin", "aaabbccd");
    const LengthsOptions options = optionsFor({index});
    const auto lengths = openLengthSource(options.source, 1);
    const auto tokens = openTokenSource(options, 256);
    double expected = 0;
    for (const double count : {3.0, 2.0, 2.0, 1.0})
        expected -= count / 8 * std::log(count / 8);
    EXPECT_NEAR(unigramEntropy(*lengths, *tokens), expected, 1e-12);
}

}  // namespace
}  // namespace ballast
