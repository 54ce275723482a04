// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/span_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/timeline/crc32.h"

namespace ballast {
namespace {

static_assert(std::endian::native == std::endian::little, "spans are written as they stand");

constexpr std::uint32_t kMagic = 0x4E415053;
constexpr std::uint32_t kVersion = 1;
/// Times beyond this would overflow when subtracted; 146 years are more than any run.
constexpr Nanoseconds kLatest = Nanoseconds{1} << 62;

struct ChunkHeader {
    std::uint32_t magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint64_t length = 0;
    std::int32_t rank = 0;
    std::uint32_t zero = 0;
    std::int64_t step = 0;
    std::int64_t count = 0;
    std::uint32_t crc = 0;
    std::uint32_t zeroToo = 0;
};
static_assert(sizeof(ChunkHeader) == 48);

/// StepReport without its step, as it lies in the file.
struct ReportBytes {
    std::int64_t begin;
    std::int64_t end;
    double lossSum;
    std::int64_t targets;
    std::int64_t tokens;
    double gradientNorm;
    double learningRate;
    std::int64_t peakBytes[6];
};
static_assert(sizeof(ReportBytes) == 104);

constexpr std::size_t kFixedBytes = sizeof(ChunkHeader) + sizeof(ReportBytes) + 8;

std::uint32_t headerCrc(const ChunkHeader& header) {
    return crc32(&header, offsetof(ChunkHeader, crc));
}

[[noreturn]] void failWriting(const std::filesystem::path& file, const char* what) {
    throw Error(fmt::format("{}: cannot {}: {}", file.string(), what, std::strerror(errno)),
                ErrorCode::WorkFailed);
}

bool before(const Span& a, const Span& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.begin < b.begin;
}

std::vector<std::byte> chunkBytes(std::int32_t rank, const StepReport& report, std::vector<Span> spans) {
    std::stable_sort(spans.begin(), spans.end(), before);
    std::vector<std::byte> bytes(kFixedBytes + spans.size() * sizeof(Span));
    ChunkHeader header;
    header.length = bytes.size();
    header.rank = rank;
    header.step = report.step;
    header.count = static_cast<std::int64_t>(spans.size());
    header.crc = headerCrc(header);
    ReportBytes stored{report.begin,  report.end,          report.lossSum,      report.targets,
                       report.tokens, report.gradientNorm, report.learningRate, {}};
    std::memcpy(stored.peakBytes, report.peakBytes, sizeof stored.peakBytes);
    std::byte* at = bytes.data();
    std::memcpy(at, &header, sizeof header);
    std::memcpy(at + sizeof header, &stored, sizeof stored);
    if (!spans.empty())
        std::memcpy(at + sizeof header + sizeof stored, spans.data(), spans.size() * sizeof(Span));
    std::uint32_t crc = crc32(at, bytes.size() - 8);
    std::memcpy(at + bytes.size() - 8, &crc, sizeof crc);
    return bytes;
}

/// Says what is wrong with a span, or nothing.
const char* faultOf(const Span& span) {
    if (spanKindName(span.kind).empty())
        return "a kind from 1 to 18";
    if (static_cast<std::uint8_t>(span.lane) > static_cast<std::uint8_t>(Lane::Host))
        return "a lane from 0 to 3";
    if (span.begin < -kLatest || span.end > kLatest || span.begin > span.end)
        return "begin <= end";
    if (span.waitingUntil < span.begin || span.waitingUntil > span.end)
        return "begin <= waiting until <= end";
    return nullptr;
}

}  // namespace

SpoolWriter::SpoolWriter(const std::filesystem::path& file, std::int32_t rank) : file_(file), rank_(rank) {
    std::int64_t whole = 0;
    if (std::filesystem::exists(file)) {
        SpoolReader reader(file, rank);
        while (reader.next()) {
        }
        whole = reader.offset();
    }
    descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
        failWriting(file, "open the spool file");
    if (::ftruncate(descriptor_, whole) != 0) {
        ::close(descriptor_);
        failWriting(file, "cut off a torn step");
    }
}

SpoolWriter::~SpoolWriter() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void SpoolWriter::append(const StepReport& report, const std::vector<Span>& spans) {
    std::vector<std::byte> bytes = chunkBytes(rank_, report, spans);
    // One call on any local file system; the loop is for a signal or a full disk in between.
    for (std::size_t done = 0; done < bytes.size();) {
        ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            failWriting(file_, "append a step");
        done += static_cast<std::size_t>(count);
    }
}

SpoolReader::SpoolReader(std::filesystem::path file, std::int32_t rank)
    : file_(std::move(file)), rank_(rank) {}

SpoolReader::~SpoolReader() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

SpoolReader::SpoolReader(SpoolReader&& other) noexcept
    : file_(std::move(other.file_)),
      rank_(other.rank_),
      offset_(other.offset_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

namespace {

std::int64_t sizeOf(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

/// Reads exactly `size` bytes, or returns false where the file is shorter.
bool readAt(int descriptor, std::int64_t offset, void* out, std::size_t size) {
    auto* at = static_cast<std::byte*>(out);
    while (size > 0) {
        ssize_t count = ::pread(descriptor, at, size, offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        offset += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

[[noreturn]] void damaged(const std::filesystem::path& file, std::int64_t offset, std::string_view expected) {
    throw Error(fmt::format("{}: damaged at byte {}: expected {}", file.string(), offset, expected));
}

void checkHeader(const ChunkHeader& header, std::int32_t rank, const std::filesystem::path& file,
                 std::int64_t offset) {
    if (header.magic != kMagic)
        damaged(file, offset, "the start of a chunk, \"SPAN\"");
    if (header.crc != headerCrc(header))
        damaged(file, offset + 40, fmt::format("CRC-32 {:08x} of the chunk's head", headerCrc(header)));
    if (header.version != kVersion)
        damaged(file, offset + 4, fmt::format("format version {}, found {}", kVersion, header.version));
    if (header.rank != rank)
        damaged(file, offset + 16, fmt::format("rank {}, found {}", rank, header.rank));
    if (header.step < 0)
        damaged(file, offset + 24, fmt::format("a step of 0 or more, found {}", header.step));
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 62) / sizeof(Span);
    auto count = static_cast<std::uint64_t>(header.count);
    if (header.count < 0 || count > kMost || header.length != kFixedBytes + count * sizeof(Span))
        damaged(file, offset + 8,
                fmt::format("a length of {} + {} * count bytes, found {} with count {}", kFixedBytes,
                            sizeof(Span), header.length, header.count));
}

}  // namespace

std::optional<SpoolChunk> SpoolReader::next() {
    if (descriptor_ < 0) {
        descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor_ < 0 && errno == ENOENT)
            return std::nullopt;
        if (descriptor_ < 0)
            throw Error(
                fmt::format("{}: cannot open the spool file: {}", file_.string(), std::strerror(errno)));
    }
    std::int64_t available = sizeOf(descriptor_) - offset_;
    ChunkHeader header;
    if (available < static_cast<std::int64_t>(sizeof header) ||
        !readAt(descriptor_, offset_, &header, sizeof header))
        return std::nullopt;
    checkHeader(header, rank_, file_, offset_);
    if (static_cast<std::uint64_t>(available) < header.length)
        return std::nullopt;
    std::vector<std::byte> bytes(header.length);
    if (!readAt(descriptor_, offset_, bytes.data(), bytes.size()))
        return std::nullopt;
    std::uint32_t crc = 0;
    std::memcpy(&crc, bytes.data() + bytes.size() - 8, sizeof crc);
    std::uint32_t actual = crc32(bytes.data(), bytes.size() - 8);
    if (crc != actual)
        damaged(file_, offset_ + static_cast<std::int64_t>(header.length) - 8,
                fmt::format("CRC-32 {:08x} of the chunk, found {:08x}", actual, crc));

    SpoolChunk chunk;
    chunk.rank = header.rank;
    ReportBytes stored;
    std::memcpy(&stored, bytes.data() + sizeof header, sizeof stored);
    if (stored.begin < -kLatest || stored.end > kLatest || stored.begin > stored.end)
        damaged(file_, offset_ + 48, "a step that ends after its begin");
    if (stored.targets < 0 || stored.tokens < 0)
        damaged(file_, offset_ + 72, "counts of 0 or more");
    chunk.report = {header.step,         stored.begin,        stored.end,
                    stored.lossSum,      stored.targets,      stored.tokens,
                    stored.gradientNorm, stored.learningRate, {}};
    std::memcpy(chunk.report.peakBytes, stored.peakBytes, sizeof stored.peakBytes);
    chunk.spans.resize(static_cast<std::size_t>(header.count));
    constexpr std::size_t kSpansAt = sizeof header + sizeof stored;
    if (!chunk.spans.empty())
        std::memcpy(chunk.spans.data(), bytes.data() + kSpansAt, chunk.spans.size() * sizeof(Span));
    for (std::size_t i = 0; i < chunk.spans.size(); ++i)
        if (const char* expected = i > 0 && before(chunk.spans[i], chunk.spans[i - 1])
                                       ? "spans sorted by lane, then begin"
                                       : faultOf(chunk.spans[i]))
            damaged(file_, offset_ + static_cast<std::int64_t>(kSpansAt + i * sizeof(Span)), expected);
    offset_ += static_cast<std::int64_t>(header.length);
    return chunk;
}

bool SpoolReader::hasTornTail() const {
    return descriptor_ >= 0 && sizeOf(descriptor_) > offset_;
}

}  // namespace ballast
