// SPDX-License-Identifier: Apache-2.0
#include "core/workload/idx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/workload/length_source.h"
#include "tests/core/workload/error_sentence.h"
#include "tests/core/workload/idx_bytes.h"
#include "tests/core/workload/temporary_folder.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::filesystem::path kData = std::filesystem::path(BALLAST_TEST_DATA) / "core/workload/data/idx";

nlohmann::json manifest() {
    return nlohmann::json::parse(std::ifstream(kData / "manifest.json"));
}

std::string refusal(const std::string& bytes) {
    return errorSentence([&] { IdxTable(std::as_bytes(std::span(bytes)), "x.idx"); });
}

TEST(IdxReader, ReadsEveryGoodFileOfTheManifest) {
    const nlohmann::json facts = manifest();
    for (const auto& entry : facts.at("good")) {
        const IdxSource source(kData / entry.at("file").get<std::string>());
        SCOPED_TRACE(source.description());
        std::vector<std::int64_t> documents;
        for (std::int64_t document = 0; document < *source.documents(); ++document)
            documents.push_back(source.length(document));
        EXPECT_EQ(documents, entry.at("documents").get<std::vector<std::int64_t>>());
        EXPECT_EQ(idxDtypeName(source.table().dtype()), entry.at("dtype"));
        EXPECT_EQ(source.table().binBytes(), entry.at("bin_bytes").get<std::int64_t>());
        EXPECT_EQ(source.table().hasModes(), entry.at("modes").get<bool>());
    }
}

TEST(IdxReader, RefusesEveryBrokenFileOfTheManifestNamingFileFieldAndOffset) {
    const nlohmann::json facts = manifest();
    for (const auto& entry : facts.at("bad")) {
        const std::string file = entry.at("file");
        const std::string sentence = errorSentence([&] { IdxSource{kData / file}; });
        EXPECT_THAT(sentence, HasSubstr(file + ": " + entry.at("field").get<std::string>()));
        EXPECT_THAT(sentence, HasSubstr("at byte " + std::to_string(entry.at("offset").get<int>()) + ":"));
        EXPECT_THAT(sentence, HasSubstr(": expected "));
        EXPECT_THAT(sentence, HasSubstr(", found "));
    }
}

TEST(IdxReader, SaysThatAZeroByteFileNeedsAHeader) {
    EXPECT_THAT(errorSentence([] { IdxSource{kData / "bad_zero_bytes.idx"}; }),
                HasSubstr("bad_zero_bytes.idx: empty file, expected a 34-byte header"));
}

TEST(IdxReader, ReportsAValidEmptyFileAsNoDocuments) {
    const IdxSource source(kData / "empty_dataset.idx");
    EXPECT_EQ(source.documents(), 0);
    ASSERT_EQ(source.notices().size(), 1u);
    EXPECT_THAT(source.notices().front(), HasSubstr("empty_dataset.idx: no documents"));
}

TEST(IdxReader, RefusesEveryTruncationOfAGoodFile) {
    const std::string whole = plainIdx({3, 5, 2}, 4, 4).bytes();
    ASSERT_THAT(refusal(whole), IsEmpty());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("x.idx: ")) << size;
}

TEST(IdxReader, RefusesAnyTailButOneModeBytePerSequence) {
    const std::string whole = plainIdx({3, 5, 2}, 4, 4).bytes();
    for (std::size_t tail = 1; tail < 20; ++tail) {
        const std::string sentence = refusal(whole + std::string(tail, '\0'));
        if (tail == 3) {
            EXPECT_THAT(sentence, IsEmpty());
        } else {
            EXPECT_THAT(sentence, HasSubstr("end of the tables at byte " + std::to_string(whole.size())));
        }
    }
}

TEST(IdxReader, HoldsCountsAgainstTheFileBeforeUsingThem) {
    const std::string good = plainIdx({3, 5, 2}, 4, 4).bytes();
    rusage before{};
    getrusage(RUSAGE_SELF, &before);
    for (const std::uint64_t count : {std::uint64_t{1} << 40, std::uint64_t{1} << 62, ~std::uint64_t{0},
                                      std::uint64_t{0x1555555555555556}}) {
        for (const std::size_t offset : {18u, 26u}) {
            std::string bytes = good;
            std::memcpy(bytes.data() + offset, &count, sizeof count);
            EXPECT_THAT(refusal(bytes), HasSubstr("at byte " + std::to_string(offset)));
        }
    }
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);  // KiB
}

TEST(IdxReader, RefusesPointersThatOverflowOrAreNegative) {
    IdxBytes idx = plainIdx({3, 5}, 5, 8);
    idx.pointers[1] = std::numeric_limits<std::int64_t>::max() - 8;
    EXPECT_THAT(refusal(idx.bytes()), HasSubstr("byte pointer of sequence 1 at byte 50"));
    idx.pointers[1] = -8;
    EXPECT_THAT(refusal(idx.bytes()), HasSubstr("byte pointer of sequence 1 at byte 50"));
}

TEST(IdxReader, TakesSequencesThatLieInAnotherOrderButDoNotOverlap) {
    IdxBytes idx = plainIdx({3, 5, 2}, 1, 1);
    idx.pointers = {5, 0, 8};
    EXPECT_THAT(refusal(idx.bytes()), IsEmpty());
    idx.pointers = {4, 0, 8};
    EXPECT_THAT(refusal(idx.bytes()), HasSubstr("byte pointer of sequence 0 at byte 46: expected 5 or more"));
}

TEST(IdxReader, AllowsADocumentWithoutSequences) {
    IdxBytes idx = plainIdx({3, 5}, 4, 4);
    idx.documents = {0, 0, 2, 2};
    const std::string bytes = idx.bytes();
    const IdxTable table(std::as_bytes(std::span(bytes)), "x.idx");
    EXPECT_EQ(table.documents(), 3);
    EXPECT_EQ(table.documentLength(0), 0);
    EXPECT_EQ(table.documentLength(1), 8);
    EXPECT_EQ(table.documentLength(2), 0);
}

TEST(LengthSource, RefusesAZeroByteIndexAmongGoodOnesBeforeReadingAny) {
    TemporaryFolder folder;
    const std::string good = folder.write("good.idx", plainIdx({3}, 4, 4).bytes());
    const std::string broken = folder.write("broken.idx", "this is no index, and is not read");
    const std::string empty = folder.write("empty.idx", "");
    const std::vector<std::string> source = {good, broken, good, empty};
    EXPECT_EQ(errorSentence([&] { openLengthSource(source, 1); }),
              empty + ": empty file, expected a 34-byte header");
}

TEST(LengthSource, LoadsTheRestBesideAnEmptyButValidShard) {
    TemporaryFolder folder;
    const std::string good = folder.write("good.idx", plainIdx({3, 4}, 4, 4).bytes());
    const std::string empty = (kData / "empty_dataset.idx").string();
    const std::vector<std::string> source = {good, empty, good};
    const auto joined = openLengthSource(source, 1);
    EXPECT_EQ(joined->documents(), 4);
    EXPECT_EQ(joined->length(1), 4);
    EXPECT_EQ(joined->length(2), 3);
    EXPECT_EQ(joined->notices(), std::vector<std::string>{empty + ": no documents"});
}

}  // namespace
}  // namespace ballast
