// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/span_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/timeline/crc32.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using ::testing::HasSubstr;

std::string bytesOf(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void writeBytes(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

StepReport reportOf(std::int64_t step) {
    StepReport report;
    report.step = step;
    report.begin = 100 * step;
    report.end = 100 * step + 90;
    report.lossSum = 1.25 * static_cast<double>(step + 1);
    report.targets = 1000 + step;
    report.tokens = 1010 + step;
    report.gradientNorm = 0.5;
    report.learningRate = 3e-4;
    for (int i = 0; i < 6; ++i)
        report.peakBytes[i] = 1'000'000'000'000 + i;
    return report;
}

std::vector<Span> spansOf(std::int64_t step, int count) {
    Random random(static_cast<std::uint64_t>(step) + 17);
    std::vector<Span> spans;
    for (int i = 0; i < count; ++i) {
        Nanoseconds begin = 100 * step + 3 * i;
        spans.push_back({.begin = begin,
                         .end = begin + 3,
                         .waitingUntil = begin + static_cast<Nanoseconds>(random.below(4)),
                         .tokens = static_cast<std::int64_t>(random.below(1 << 20)),
                         .bytes = 16'843'009,
                         .flops = random.uniform() * 1e18,
                         .document = static_cast<std::int64_t>(random.below(1000)) - 1,
                         .microBatch = i,
                         .layer = i - 1,
                         .blamedRank = -1,
                         .kind = static_cast<SpanKind>(1 + random.below(kSpanKindCount)),
                         .lane = Lane::Compute,
                         .modelled = 1});
    }
    return spans;
}

/// All whole chunks; throws what the reader throws.
std::vector<SpoolChunk> readAll(SpoolReader& reader) {
    std::vector<SpoolChunk> chunks;
    while (std::optional<SpoolChunk> chunk = reader.next())
        chunks.push_back(std::move(*chunk));
    return chunks;
}

class SpoolFile : public ::testing::Test {
  protected:
    std::filesystem::path write(int steps, std::int32_t rank = 3) {
        SpoolWriter writer(file_, rank);
        for (int step = 0; step < steps; ++step)
            writer.append(reportOf(step), spansOf(step, 2 + step));
        return file_;
    }

    testing::TemporaryDirectory directory_;
    std::filesystem::path file_ = directory_.path() / "3";
};

TEST(Crc32, MatchesThePublishedCheckValue) {
    // "123456789" -> CBF43926: the check value of CRC-32/ISO-HDLC, as in zlib and PNG.
    EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
    EXPECT_EQ(crc32("", 0), 0u);
    std::string text(1000, 'x');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 31);
    std::uint32_t bitwise = 0xFFFFFFFFu;
    for (char c : text) {
        bitwise ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            bitwise = (bitwise >> 1) ^ ((bitwise & 1) ? 0xEDB88320u : 0u);
    }
    EXPECT_EQ(crc32(text.data(), text.size()), ~bitwise);
}

TEST_F(SpoolFile, GivesBackWhatWasAppendedToTheLastBit) {
    write(5);
    SpoolReader reader(file_, 3);
    std::vector<SpoolChunk> chunks = readAll(reader);
    ASSERT_EQ(chunks.size(), 5u);
    for (int step = 0; step < 5; ++step) {
        const SpoolChunk& chunk = chunks[static_cast<std::size_t>(step)];
        EXPECT_EQ(chunk.rank, 3);
        EXPECT_EQ(chunk.report, reportOf(step));
        EXPECT_EQ(chunk.spans, spansOf(step, 2 + step));
    }
    EXPECT_FALSE(reader.hasTornTail());
    EXPECT_EQ(reader.offset(), static_cast<std::int64_t>(std::filesystem::file_size(file_)));
}

TEST_F(SpoolFile, HasTheBytesOfItsFormatPage) {
    SpoolWriter(file_, 3).append(reportOf(2), spansOf(2, 1));
    std::string bytes = bytesOf(file_);
    ASSERT_EQ(bytes.size(), 160u + 72u);
    auto at = [&]<class Number>(std::size_t offset, Number) {
        Number number;
        std::memcpy(&number, bytes.data() + offset, sizeof number);
        return number;
    };
    EXPECT_EQ(bytes.substr(0, 4), "SPAN");
    EXPECT_EQ(at(8, std::uint64_t{}), bytes.size());
    EXPECT_EQ(at(16, std::int32_t{}), 3);
    EXPECT_EQ(at(24, std::int64_t{}), 2);
    EXPECT_EQ(at(32, std::int64_t{}), 1);
    EXPECT_EQ(at(40, std::uint32_t{}), crc32(bytes.data(), 40));
    EXPECT_EQ(at(56, std::int64_t{}), 290);
    EXPECT_EQ(at(96, double{}), 3e-4);
    EXPECT_EQ(at(152 + 68, std::uint8_t{}), static_cast<std::uint8_t>(spansOf(2, 1)[0].kind));
    EXPECT_EQ(at(bytes.size() - 8, std::uint32_t{}), crc32(bytes.data(), bytes.size() - 8));
}

TEST_F(SpoolFile, KeepsNotANumberForAStepWithoutTargets) {
    StepReport report = reportOf(0);
    report.gradientNorm = std::numeric_limits<double>::quiet_NaN();
    SpoolWriter(file_, 3).append(report, {});
    SpoolReader reader(file_, 3);
    EXPECT_TRUE(std::isnan(reader.next()->report.gradientNorm));
}

TEST_F(SpoolFile, SortsSpansByLaneThenBegin) {
    std::vector<Span> spans = {{.begin = 5, .end = 6, .waitingUntil = 5, .lane = Lane::Compute},
                               {.begin = 7, .end = 8, .waitingUntil = 7, .lane = Lane::Pipeline},
                               {.begin = 1, .end = 2, .waitingUntil = 1, .lane = Lane::Compute}};
    SpoolWriter(file_, 3).append(reportOf(0), spans);
    SpoolReader reader(file_, 3);
    std::optional<SpoolChunk> chunk = reader.next();
    EXPECT_EQ(chunk->spans, (std::vector<Span>{spans[1], spans[2], spans[0]}));
}

TEST_F(SpoolFile, AFileThatIsNotThereYetGivesNothingUntilItIs) {
    SpoolReader reader(file_, 3);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_FALSE(reader.hasTornTail());
    write(1);
    EXPECT_TRUE(reader.next().has_value());
}

TEST_F(SpoolFile, TailsAFileThatGrowsByAnyNumberOfBytes) {
    write(4);
    std::string bytes = bytesOf(file_);
    std::filesystem::path growing = directory_.path() / "growing";
    SpoolReader reader(growing, 3);
    std::size_t seen = 0;
    std::size_t written = 0;
    for (std::size_t portion = 1; written < bytes.size(); portion = portion * 3 % 97 + 1) {
        written = std::min(written + portion, bytes.size());
        writeBytes(growing, bytes.substr(0, written));
        seen += readAll(reader).size();
    }
    EXPECT_EQ(seen, 4u);
    EXPECT_FALSE(reader.hasTornTail());
}

TEST_F(SpoolFile, EveryTruncationKeepsTheWholeStepsBeforeIt) {
    write(3);
    std::string bytes = bytesOf(file_);
    std::vector<std::size_t> ends;
    for (std::size_t step = 0, end = 0; step < 3; ++step)
        ends.push_back(end += 160 + 72 * (2 + step));
    ASSERT_EQ(ends.back(), bytes.size());
    for (std::size_t size = bytes.size() + 1; size-- > 0;) {
        std::filesystem::resize_file(file_, size);
        SpoolReader reader(file_, 3);
        std::size_t whole = static_cast<std::size_t>(
            std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= size; }));
        ASSERT_EQ(readAll(reader).size(), whole) << size;
        std::size_t border = whole == 0 ? 0 : ends[whole - 1];
        EXPECT_EQ(reader.hasTornTail(), size > border) << size;
    }
}

TEST_F(SpoolFile, AWriterCutsOffATornStepAndGoesOn) {
    write(3);
    std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 5);
    SpoolWriter(file_, 3).append(reportOf(2), spansOf(2, 9));
    SpoolReader reader(file_, 3);
    std::vector<SpoolChunk> chunks = readAll(reader);
    ASSERT_EQ(chunks.size(), 3u);
    EXPECT_EQ(chunks[2].spans, spansOf(2, 9));
}

TEST_F(SpoolFile, EveryFlippedBitIsNamedWithFileAndOffset) {
    write(2);
    std::string bytes = bytesOf(file_);
    std::fstream in(file_, std::ios::binary | std::ios::in | std::ios::out);
    auto put = [&](std::size_t at, int byte) {
        in.seekp(static_cast<std::streamoff>(at));
        in.put(static_cast<char>(byte));
        in.flush();
    };
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        if (bit > 0)
            put((bit - 1) / 8, bytes[(bit - 1) / 8]);
        put(bit / 8, bytes[bit / 8] ^ (1 << (bit % 8)));
        SpoolReader reader(file_, 3);
        try {
            std::vector<SpoolChunk> chunks = readAll(reader);
            // The last four bytes are padding after the checksum.
            EXPECT_TRUE(bit / 8 >= bytes.size() - 4 || (bit / 8 >= 300 && bit / 8 < 304)) << bit;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(file_.string() + ": damaged at byte "));
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
        }
    }
}

/// Replaces a number and makes both checksums right again: a file that lies.
template <class Number>
std::string lying(std::string bytes, std::size_t offset, Number number) {
    std::memcpy(bytes.data() + offset, &number, sizeof number);
    std::uint32_t crc = crc32(bytes.data(), 40);
    std::memcpy(bytes.data() + 40, &crc, sizeof crc);
    crc = crc32(bytes.data(), bytes.size() - 8);
    std::memcpy(bytes.data() + bytes.size() - 8, &crc, sizeof crc);
    return bytes;
}

TEST_F(SpoolFile, LyingNumbersWithRightChecksumsAreRefusedWithoutAllocatingForThem) {
    SpoolWriter(file_, 3).append(reportOf(0), spansOf(0, 2));
    std::string bytes = bytesOf(file_);
    constexpr std::int64_t kHuge = std::int64_t{1} << 40;
    std::vector<std::pair<std::string, std::string>> cases = {
        {lying(bytes, 4, std::uint32_t{9}), "version 1, found 9"},
        {lying(bytes, 8, std::uint64_t{1} << 50), "length"},
        {lying(bytes, 32, kHuge), "length"},
        {lying(bytes, 32, std::int64_t{-1}), "length"},
        {lying(bytes, 32, std::numeric_limits<std::int64_t>::max()), "length"},
        {lying(bytes, 16, std::int32_t{4}), "rank 3, found 4"},
        {lying(bytes, 24, std::int64_t{-1}), "step"},
        {lying(bytes, 56, std::int64_t{-1}), "ends after its begin"},
        {lying(bytes, 72, std::int64_t{-1}), "counts of 0 or more"},
        {lying(bytes, 152, std::numeric_limits<std::int64_t>::min()), "begin <= end"},
        {lying(bytes, 152 + 16, kHuge), "waiting until"},
        {lying(bytes, 152 + 68, std::uint8_t{0}), "kind"},
        {lying(bytes, 152 + 68, std::uint8_t{19}), "kind"},
        {lying(bytes, 152 + 69, std::uint8_t{4}), "lane"},
        {lying(bytes, 152 + 69, std::uint8_t{3}), "sorted"},
    };
    for (const auto& [content, expected] : cases) {
        writeBytes(file_, content);
        SpoolReader reader(file_, 3);
        try {
            reader.next();
            FAIL() << "expected an error about " << expected;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(expected));
            EXPECT_THAT(error.what(), HasSubstr(file_.string()));
        }
    }
    // A chunk that is consistent but longer than the file is one that is still being written.
    std::string longer = bytes;
    std::int64_t count = kHuge;
    std::uint64_t length = 160 + 72 * static_cast<std::uint64_t>(kHuge);
    std::memcpy(longer.data() + 8, &length, sizeof length);
    writeBytes(file_, lying(longer, 32, count));
    SpoolReader reader(file_, 3);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.hasTornTail());
}

TEST_F(SpoolFile, AForeignFileIsNoSpool) {
    writeBytes(file_, std::string(4096, 'a'));
    SpoolReader reader(file_, 3);
    EXPECT_THROW(reader.next(), Error);
    EXPECT_THROW(SpoolWriter(file_, 3), Error) << "nothing is appended to a file that is not ours";
}

TEST_F(SpoolFile, AFolderThatIsNotThereIsAFailureOfTheWork) {
    try {
        SpoolWriter writer(directory_.path() / "missing" / "3", 3);
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::WorkFailed);
        EXPECT_THAT(error.what(), HasSubstr("missing"));
    }
}

}  // namespace
}  // namespace ballast
