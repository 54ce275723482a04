// SPDX-License-Identifier: Apache-2.0
#include "core/workload/text_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/workload/idx_reader.h"
#include "core/workload/token_source.h"
#include "tests/core/workload/error_sentence.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder of texts, and where a scan of it goes.
class TextScan : public ::testing::Test {
  protected:
    ScanOptions options() const {
        ScanOptions chosen;
        chosen.directory = folder_.path() / "in";
        chosen.prefix = folder_.path() / "out";
        return chosen;
    }

    /// The documents of the data set as text, read back through .idx and .bin.
    std::vector<std::string> documents() const {
        const IdxSource index(folder_.path() / "out.idx");
        LengthsOptions source;
        source.source = {folder_.file("out.idx")};
        const auto tokens = openTokenSource(source, 256);
        std::vector<std::string> texts;
        for (std::int64_t document = 0; document < *index.documents(); ++document) {
            std::vector<std::int64_t> ids(static_cast<std::size_t>(index.length(document)));
            tokens->read(document, 0, ids);
            texts.emplace_back(ids.begin(), ids.end());
        }
        return texts;
    }

    std::string in(const std::string& name) const { return (folder_.path() / "in" / name).string(); }

    TemporaryFolder folder_;
};

TEST_F(TextScan, WritesOneDocumentAFileInByteOrderOfThePath) {
    folder_.write("in/b", "bee");
    folder_.write("in/a/z", "zet");
    folder_.write("in/a.txt", "dot");  // '.' sorts before '/'
    folder_.write("in/\xC3\xA4", "umlaut");
    folder_.write("in/B", "BEE");
    const ScanResult result = scanText(options());
    EXPECT_THAT(documents(), ElementsAre("BEE", "dot", "zet", "bee", "umlaut"));
    EXPECT_EQ(result.documents, 5);
    EXPECT_EQ(result.files, 5);
    EXPECT_EQ(result.tokens, 18);
    EXPECT_EQ(fileContent(folder_.file("out.files")), "path\tbytes\tdocument\n" + in("B") + "\t3\t0\n" +
                                                          in("a.txt") + "\t3\t1\n" + in("a/z") + "\t3\t2\n" +
                                                          in("b") + "\t3\t3\n" + in("\xC3\xA4") + "\t6\t4\n");
    EXPECT_EQ(IdxSource(folder_.path() / "out.idx").table().dtype(), IdxDtype::UInt8);
}

TEST_F(TextScan, CountsWhatIsNoText) {
    folder_.write("in/text", "text");
    folder_.write("in/empty", "");
    folder_.write("in/nul", std::string("a\0b", 3));
    folder_.write("in/late-nul", std::string(8192, 'x') + std::string("\0", 1));
    folder_.write("in/a.gz", "\x1F\x8B compressed");
    folder_.write("in/a.xz",
                  "\xFD"
                  "7zXZ compressed");
    folder_.write("elsewhere/secret", "not to be read");
    std::filesystem::create_symlink("../elsewhere/secret", folder_.path() / "in/link");
    std::filesystem::create_directory_symlink("../elsewhere", folder_.path() / "in/link-to-folder");
    std::filesystem::create_directory_symlink(".", folder_.path() / "in/cycle");
    const ScanResult result = scanText(options());
    EXPECT_EQ(result.documents, 2);
    EXPECT_EQ(result.emptyFiles, 1);
    EXPECT_EQ(result.binaryFiles, 1);
    EXPECT_EQ(result.compressedFiles, 2);
    EXPECT_EQ(result.links, 3);
    EXPECT_EQ(documents().at(1), "text");
}

TEST_F(TextScan, TakesDocumentsUntilThoseThatFitTheWindowHoldEnough) {
    for (const char name : {'a', 'b', 'c', 'd', 'e'})
        folder_.write(std::string("in/") + name, std::string(name == 'b' ? 100 : 10, name));
    ScanOptions chosen = options();
    chosen.window = 50;
    chosen.maxTokens = 25;
    const ScanResult result = scanText(chosen);
    EXPECT_EQ(result.files, 4);
    EXPECT_EQ(result.tokens, 130);
    EXPECT_EQ(result.overlongDocuments, 1);
    EXPECT_EQ(result.overlongTokens, 100);
    EXPECT_EQ(result.filesBeyondCap, 1);
    EXPECT_EQ(result.bytesBeyondCap, 10);
    chosen.window.reset();
    EXPECT_EQ(scanText(chosen).files, 2);
    chosen.maxTokens.reset();
    chosen.maxFiles = 3;
    EXPECT_EQ(scanText(chosen).files, 3);
}

TEST_F(TextScan, SeededOrderIsAShuffleThatComesAgain) {
    std::vector<std::string> written;
    for (int file = 0; file < 30; ++file)
        folder_.write("in/" + std::to_string(file), written.emplace_back("file " + std::to_string(file)));
    ScanOptions chosen = options();
    scanText(chosen);
    const auto sorted = documents();
    chosen.order = DocumentOrder::Shuffled;
    scanText(chosen);
    const auto shuffled = documents();
    scanText(chosen);
    EXPECT_EQ(shuffled, documents());
    EXPECT_NE(shuffled, sorted);
    EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), written.begin(), written.end()));
    chosen.seed = 2;
    scanText(chosen);
    EXPECT_NE(shuffled, documents());
}

TEST_F(TextScan, CutsTheJoinedBytesIntoGivenLengthsInTurn) {
    folder_.write("in/a", "abcde");
    folder_.write("in/b", "fghij");
    folder_.write("in/c", "klm");
    ScanOptions chosen = options();
    chosen.lengths = {folder_.write("lengths.txt", "3\n0\n4\n")};
    const ScanResult result = scanText(chosen);
    EXPECT_THAT(documents(), ElementsAre("abc", "", "defg", "hij", "", "klm"));
    EXPECT_EQ(result.tokens, 13);
    EXPECT_THAT(fileContent(folder_.file("out.files")), HasSubstr(in("b") + "\t5\t2\n"));
    chosen.maxTokens = 5;
    scanText(chosen);
    EXPECT_THAT(documents(), ElementsAre("abc", "", "defg"));
    chosen.lengths = {folder_.write("lengths.txt", "100\n")};
    chosen.maxTokens.reset();
    scanText(chosen);
    EXPECT_THAT(documents(), ElementsAre("abcdefghijklm"));
}

TEST_F(TextScan, RefusesLengthsThatNeverTakeAToken) {
    folder_.write("in/a", "abcde");
    ScanOptions chosen = options();
    chosen.lengths = {folder_.write("lengths.txt", "0\n0\n")};
    EXPECT_THAT(errorSentence([&] { scanText(chosen); }), HasSubstr("expected a document with tokens"));
    chosen.lengths = {folder_.write("lengths.txt", "")};
    EXPECT_THAT(errorSentence([&] { scanText(chosen); }), HasSubstr("no documents to take lengths from"));
}

TEST_F(TextScan, LeavesNothingBehindWhenItFails) {
    folder_.write("in/a", "abcde");
    ScanOptions chosen = options();
    chosen.lengths = {folder_.write("lengths.txt", "0\n")};
    EXPECT_NE(errorSentence([&] { scanText(chosen); }), "");
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
        EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("in", "lengths.txt"));
    chosen = options();
    chosen.directory = folder_.path() / "absent";
    EXPECT_THAT(errorSentence([&] { scanText(chosen); }), HasSubstr("absent: expected a folder"));
    chosen = options();
    chosen.prefix = folder_.path() / "absent/out";
    EXPECT_THAT(errorSentence([&] { scanText(chosen); }), HasSubstr("absent/out.bin"));
}

TEST_F(TextScan, OfAnEmptyFolderIsAValidEmptyDataSet) {
    std::filesystem::create_directory(folder_.path() / "in");
    EXPECT_EQ(scanText(options()).documents, 0);
    EXPECT_EQ(IdxSource(folder_.path() / "out.idx").documents(), 0);
}

TEST_F(TextScan, DoesNotTakeWhatAnEarlierScanWrote) {
    folder_.write("in/a", "abc");
    ScanOptions chosen = options();
    chosen.prefix = folder_.path() / "in/out";
    EXPECT_EQ(scanText(chosen).tokens, 3);
    EXPECT_EQ(scanText(chosen).tokens, 3);
}

TEST_F(TextScan, KeepsTheListReadableForOddNames) {
    folder_.write("in/a\tb\nc\\d", "abc");
    scanText(options());
    EXPECT_THAT(fileContent(folder_.file("out.files")), HasSubstr("a\\tb\\nc\\\\d\t3\t0\n"));
}

}  // namespace
}  // namespace ballast
