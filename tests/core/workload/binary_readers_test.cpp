// SPDX-License-Identifier: Apache-2.0
// NumPy arrays, compressed texts, histograms and JSON arrays as length sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/workload/length_source.h"
#include "core/workload/npy_reader.h"
#include "core/workload/text_source.h"
#include "tests/core/workload/error_sentence.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using Lengths = std::vector<std::int64_t>;

std::string bytesOf(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

/// "5\n17\n3\n" as `gzip -9n` and `zstd` write it.
const std::string kGzip = bytesOf("1f8b080000000000020333e53234e732e602003b2e382e07000000");
const std::string kZstandard = bytesOf("28b52ffd0458390000350a31370a330a46c87bf4");

Lengths lengthsOf(const LengthSource& source) {
    Lengths lengths;
    for (std::int64_t document = 0; document < source.sampleDocuments(); ++document)
        lengths.push_back(source.length(document));
    return lengths;
}

Lengths lengthsIn(const std::string& file) {
    return lengthsOf(*openLengthSource(std::vector<std::string>{file}, 1));
}

std::string refusalOf(const std::string& file) {
    return errorSentence([&] { openLengthSource(std::vector<std::string>{file}, 1); });
}

/// A .npy as NumPy writes it: header padded with spaces to a multiple of 64 bytes, a line end last.
template <class Number>
std::string npy(const std::string& type, const std::vector<Number>& numbers, int version = 1,
                const std::string& shape = "") {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                         (shape.empty() ? std::to_string(numbers.size()) + "," : shape) + "), }";
    const std::size_t fixed = version == 1 ? 10 : 12;
    header.append(63 - (fixed + header.size()) % 64, ' ');
    header += '\n';
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
    file += header;
    file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    return file;
}

TEST(NpyReader, ReadsEveryWholeNumberTypeAndVersion) {
    TemporaryFolder folder;
    const Lengths expected = {3, 0, 100};
    for (int version : {1, 2, 3}) {
        EXPECT_EQ(lengthsIn(folder.write("a.npy", npy<std::int8_t>("|i1", {3, 0, 100}, version))), expected);
        EXPECT_EQ(lengthsIn(folder.write("b.npy", npy<std::uint8_t>("|u1", {3, 0, 100}, version))), expected);
        EXPECT_EQ(lengthsIn(folder.write("c.npy", npy<std::int16_t>("<i2", {3, 0, 100}, version))), expected);
        EXPECT_EQ(lengthsIn(folder.write("d.npy", npy<std::uint16_t>("<u2", {3, 0, 100}, version))),
                  expected);
        EXPECT_EQ(lengthsIn(folder.write("e.npy", npy<std::int32_t>("<i4", {3, 0, 100}, version))), expected);
        EXPECT_EQ(lengthsIn(folder.write("f.npy", npy<std::uint32_t>("<u4", {3, 0, 100}, version))),
                  expected);
        EXPECT_EQ(lengthsIn(folder.write("g.npy", npy<std::int64_t>("<i8", {3, 0, 100}, version))), expected);
        EXPECT_EQ(lengthsIn(folder.write("h.npy", npy<std::uint64_t>("<u8", {3, 0, 100}, version))),
                  expected);
    }
    EXPECT_EQ(lengthsIn(folder.write("large.npy", npy<std::uint32_t>("<u4", {4000000000U}))),
              (Lengths{4000000000}));
}

TEST(NpyReader, AnEmptyArrayIsNoDocumentsWithANotice) {
    TemporaryFolder folder;
    const auto source = openLengthSource(
        std::vector<std::string>{folder.write("a.npy", npy<std::int32_t>("<i4", {}, 1, "0,"))}, 1);
    EXPECT_EQ(source->documents(), 0);
    EXPECT_EQ(source->notices().size(), 1U);
}

TEST(NpyReader, RefusesWhatIsNoListOfLengthsWithItsPlace) {
    TemporaryFolder folder;
    const auto refused = [&](const std::string& bytes) { return refusalOf(folder.write("a.npy", bytes)); };
    const std::string good = npy<std::int32_t>("<i4", {3, 5});
    EXPECT_THAT(refused(""), HasSubstr("byte 0"));
    EXPECT_THAT(refused("not a npy file"), HasSubstr("no .npy file"));
    EXPECT_THAT(refused(good.substr(0, 9)), HasSubstr("byte 9: the file ends inside its header"));
    EXPECT_THAT(refused(good.substr(0, 40)), HasSubstr("header length: expected at most 30"));
    EXPECT_THAT(refused(good.substr(0, good.size() - 1)),
                HasSubstr("expected 2 numbers of 4 bytes, found 7"));
    EXPECT_THAT(refused(good + "x"), HasSubstr("expected 2 numbers of 4 bytes, found 9"));
    EXPECT_THAT(refused(npy<float>("<f4", {3})), HasSubstr("descr: expected whole numbers"));
    EXPECT_THAT(refused(npy<std::int32_t>(">i4", {3})), HasSubstr("found \">i4\""));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3, 5}, 1, "1, 2")),
                HasSubstr("shape: expected one dimension"));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3, 5}, 1, "-2,")), HasSubstr("shape"));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3, 5}, 1, "99999999999999999999,")), HasSubstr("shape"));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3, 5}, 1, "4611686018427387904,")),
                HasSubstr("expected 4611686018427387904 numbers"));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3, -5})),
                HasSubstr("number 1: expected a length of 0 or more"));
    EXPECT_THAT(refused(npy<std::uint64_t>("<u8", {~std::uint64_t{0}})), HasSubstr("at most 2^62"));
    EXPECT_THAT(refused(npy<std::int64_t>("<i8", {std::int64_t{1} << 62, 1})), HasSubstr("2^62"));
    EXPECT_THAT(refused(npy<std::int32_t>("<i4", {3}, 9)), HasSubstr("version"));
}

TEST(CompressedText, ReadsWhatGzipAndZstandardWrite) {
    TemporaryFolder folder;
    EXPECT_EQ(lengthsIn(folder.write("a.txt.gz", kGzip)), (Lengths{5, 17, 3}));
    EXPECT_EQ(lengthsIn(folder.write("a.txt.zst", kZstandard)), (Lengths{5, 17, 3}));
    EXPECT_EQ(lengthsIn(folder.write("a.csv.gz", kGzip)), (Lengths{5, 17, 3}));
    EXPECT_EQ(lengthsIn(folder.write("a.jsonl.zst", kZstandard)), (Lengths{5, 17, 3}));
}

TEST(CompressedText, JoinsMembersAndFramesThatStandInARow) {
    TemporaryFolder folder;
    EXPECT_EQ(lengthsIn(folder.write("a.txt.gz", kGzip + kGzip)), (Lengths{5, 17, 3, 5, 17, 3}));
    EXPECT_EQ(lengthsIn(folder.write("a.txt.zst", kZstandard + kZstandard)), (Lengths{5, 17, 3, 5, 17, 3}));
}

TEST(CompressedText, RefusesEveryTruncationAndWhatFollowsTheEnd) {
    TemporaryFolder folder;
    for (std::size_t end = 0; end < kGzip.size(); ++end)
        EXPECT_THAT(refusalOf(folder.write("a.txt.gz", kGzip.substr(0, end))), HasSubstr("truncated")) << end;
    for (std::size_t end = 0; end < kZstandard.size(); ++end)
        EXPECT_THAT(refusalOf(folder.write("a.txt.zst", kZstandard.substr(0, end))), HasSubstr("byte "))
            << end;
    EXPECT_THAT(refusalOf(folder.write("a.txt.gz", kGzip + "x")), HasSubstr("byte "));
    EXPECT_THAT(refusalOf(folder.write("a.txt.zst", kZstandard + "xxxx")), HasSubstr("byte "));
}

TEST(CompressedText, AFlippedBitIsRefusedOrChangesNothing) {
    TemporaryFolder folder;
    for (const auto& [name, whole] : {std::pair("a.txt.gz", kGzip), {"a.txt.zst", kZstandard}})
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            std::string flipped = whole;
            flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
            const std::string file = folder.write(name, flipped);
            if (refusalOf(file).empty()) {
                EXPECT_EQ(lengthsIn(file), (Lengths{5, 17, 3})) << name << " bit " << bit;
            }
        }
}

TEST(CompressedText, BinaryTablesAreNotReadCompressed) {
    TemporaryFolder folder;
    EXPECT_THAT(refusalOf(folder.write("a.idx.gz", kGzip)), HasSubstr("decompress it first"));
    EXPECT_THAT(refusalOf(folder.write("a.npy.zst", kZstandard)), HasSubstr("decompress it first"));
}

TEST(Histogram, ADocumentForEveryCountInTheOrderOfTheRows) {
    TemporaryFolder folder;
    EXPECT_EQ(lengthsIn(folder.write("a.csv", "length,count\n7,2\n0,1\n3,3\n")), (Lengths{7, 7, 0, 3, 3, 3}));
    EXPECT_EQ(lengthsIn(folder.write("a.tsv", "length\tcount\n7\t0\n4\t1\n")), (Lengths{4}));
    const std::vector<std::string> source = {folder.write("b.csv", "length,count\n5,1000000000\n9,1\n")};
    EXPECT_EQ(openLengthSource(source, 1)->documents(), 1000000001);
    EXPECT_EQ(openLengthSource(source, 1)->length(1000000000), 9);
}

TEST(Histogram, ANamedColumnIsStillAColumn) {
    TemporaryFolder folder;
    EXPECT_EQ(lengthsIn(folder.write("a.csv", "length,count\n7,2\n3,3\n") + "#length"), (Lengths{7, 3}));
}

TEST(Histogram, RefusesBadRowsWithTheirLine) {
    TemporaryFolder folder;
    const auto refused = [&](const std::string& rows) {
        return refusalOf(folder.write("a.csv", "length,count\n" + rows));
    };
    EXPECT_THAT(refused("7\n"), HasSubstr("line 2: expected 2 cells"));
    EXPECT_THAT(refused("7,2\n7,-1\n"), HasSubstr("line 3: column count: expected a length of 0 or more"));
    EXPECT_THAT(refused("7,1099511627777\n"),
                HasSubstr("line 2: the counts up to here sum to more than 2^40"));
    EXPECT_THAT(refused("4611686018427387904,2\n"), HasSubstr("line 2: the lengths up to here"));
}

TEST(JsonSource, IsAnArrayOfLengthsOrADistribution) {
    TemporaryFolder folder;
    EXPECT_EQ(lengthsIn(folder.write("a.json", "[3, 0,\n 9]")), (Lengths{3, 0, 9}));
    EXPECT_EQ(lengthsIn(folder.write("b.json", "[]")), Lengths{});
    const std::vector<std::string> own = {
        folder.write("c.json", R"({"name": "mine", "source": "a test", "bin_width": 10, "counts": [0, 4],
                      "first_bin_exponential_mean": null, "last_bin_share_at_end": 1})")};
    const auto source = openLengthSource(own, 1);
    EXPECT_EQ(source->documents(), std::nullopt);
    EXPECT_EQ(lengthsOf(*source), (Lengths{20, 20, 20, 20}));
}

TEST(JsonSource, RefusesAnythingElseByName) {
    TemporaryFolder folder;
    const auto refused = [&](const std::string& text) { return refusalOf(folder.write("a.json", text)); };
    EXPECT_THAT(refused("[3, -1]"),
                HasSubstr("number 1: expected a length of 0 or more in one array, found -1"));
    EXPECT_THAT(refused("[3, 1.5]"), HasSubstr("found 1.5"));
    EXPECT_THAT(refused("[3, [4]]"), HasSubstr("found an array"));
    EXPECT_THAT(refused("[3, {}]"), HasSubstr("found an object"));
    EXPECT_THAT(refused("[3"), HasSubstr("broken JSON"));
    EXPECT_THAT(refused("3"), HasSubstr("a number alone"));
    EXPECT_THAT(refused("[3] 4"), HasSubstr("broken JSON"));
    EXPECT_THAT(refused("[99999999999999999999]"), HasSubstr("number 0"));
    EXPECT_THAT(refused("{}"), HasSubstr("a.json"));
    EXPECT_THAT(refused(""), HasSubstr("broken JSON"));
}

}  // namespace
}  // namespace ballast
