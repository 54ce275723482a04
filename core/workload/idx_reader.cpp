// SPDX-License-Identifier: Apache-2.0
#include "core/workload/idx_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast {

static_assert(std::endian::native == std::endian::little, "the .idx tables are read as they stand");

namespace {

template <class Number>
Number readAt(std::span<const std::byte> bytes, std::int64_t offset) {
    Number value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

template <class Expected, class Found>
[[noreturn]] void refuse(std::string_view place, std::string_view field, std::int64_t offset,
                         const Expected& expected, const Found& found) {
    throw Error(
        fmt::format("{}: {} at byte {}: expected {}, found {}", place, field, offset, expected, found));
}

constexpr std::int64_t kVersionOffset = 9;
constexpr std::int64_t kDtypeOffset = 17;
constexpr std::int64_t kSequencesOffset = 18;
constexpr std::int64_t kDocumentsOffset = 26;

}  // namespace

int idxDtypeBytes(IdxDtype dtype) {
    switch (dtype) {
        case IdxDtype::UInt8:
        case IdxDtype::Int8:
            return 1;
        case IdxDtype::Int16:
        case IdxDtype::UInt16:
            return 2;
        case IdxDtype::Int32:
        case IdxDtype::Float32:
            return 4;
        case IdxDtype::Int64:
        case IdxDtype::Float64:
            return 8;
    }
    BALLAST_CHECK(false);
    return 0;
}

std::string_view idxDtypeName(IdxDtype dtype) {
    constexpr std::string_view kNames[] = {"uint8", "int8",    "int16",   "int32",
                                           "int64", "float64", "float32", "uint16"};
    return kNames[static_cast<std::size_t>(dtype) - 1];
}

IdxTable::IdxTable(std::span<const std::byte> bytes, std::string_view place) : bytes_(bytes) {
    checkHeader(place);
    checkSequences(place);
    checkDocuments(place);
}

std::int32_t IdxTable::sequenceLength(std::int64_t sequence) const {
    return readAt<std::int32_t>(bytes_, lengthOffset(sequence));
}

std::int64_t IdxTable::pointer(std::int64_t sequence) const {
    return readAt<std::int64_t>(bytes_, pointerOffset(sequence));
}

std::int64_t IdxTable::firstSequence(std::int64_t document) const {
    return readAt<std::int64_t>(bytes_, documentOffset(document));
}

std::int64_t IdxTable::documentLength(std::int64_t document) const {
    BALLAST_CHECK(document >= 0 && document < documents_);
    std::int64_t length = 0;
    const std::int64_t end = firstSequence(document + 1);
    for (std::int64_t sequence = firstSequence(document); sequence < end; ++sequence)
        length += sequenceLength(sequence);
    return length;
}

void IdxTable::copyDocumentLengths(std::int64_t first, std::span<std::int64_t> out) const {
    BALLAST_CHECK(first >= 0 && first + static_cast<std::int64_t>(out.size()) <= documents_);
    std::int64_t begin = firstSequence(first);
    for (std::int64_t& length : out) {
        const auto end = readAt<std::int64_t>(bytes_, documentOffset(++first));
        length = 0;
        for (; begin < end; ++begin)
            length += readAt<std::int32_t>(bytes_, lengthOffset(begin));
    }
}

void IdxTable::checkHeader(std::string_view place) {
    const auto size = static_cast<std::int64_t>(bytes_.size());
    if (size == 0)
        throw Error(fmt::format("{}: empty file, expected a {}-byte header", place, kIdxHeaderBytes));
    const std::size_t magicBytes = std::min(bytes_.size(), kIdxMagic.size());
    if (std::memcmp(bytes_.data(), kIdxMagic.data(), magicBytes) != 0)
        refuse(place, "magic", 0, "MMIDIDX and two zero bytes", "other bytes");
    if (size < kIdxHeaderBytes)
        refuse(place, "header", size, fmt::format("{} bytes", kIdxHeaderBytes),
               fmt::format("the end of the file after {}", size));
    const auto version = readAt<std::uint64_t>(bytes_, kVersionOffset);
    if (version != 1)
        refuse(place, "version", kVersionOffset, 1, version);
    const auto dtype = readAt<std::uint8_t>(bytes_, kDtypeOffset);
    if (dtype < 1 || dtype > 8)
        refuse(place, "dtype", kDtypeOffset, "a code from 1 to 8", static_cast<int>(dtype));
    dtype_ = static_cast<IdxDtype>(dtype);

    // Counts are held against the bytes that are there before anything is computed from them.
    const std::int64_t body = size - kIdxHeaderBytes;
    const auto sequences = readAt<std::uint64_t>(bytes_, kSequencesOffset);
    if (sequences > static_cast<std::uint64_t>(body / 12))
        refuse(place, "sequence count", kSequencesOffset,
               fmt::format("at most {} in a file of {} bytes", body / 12, size), sequences);
    sequences_ = static_cast<std::int64_t>(sequences);
    const std::int64_t documentBody = body - 12 * sequences_;
    const auto indices = readAt<std::uint64_t>(bytes_, kDocumentsOffset);
    if (indices < 1)
        refuse(place, "document index count", kDocumentsOffset, "documents + 1", indices);
    if (indices > static_cast<std::uint64_t>(documentBody / 8))
        refuse(place, "document index count", kDocumentsOffset,
               fmt::format("at most {} in a file of {} bytes", documentBody / 8, size), indices);
    documents_ = static_cast<std::int64_t>(indices) - 1;
    const std::int64_t rest = documentBody - 8 * (documents_ + 1);
    hasModes_ = rest > 0 && rest == sequences_;
    if (rest != 0 && !hasModes_)
        refuse(place, "end of the tables", size - rest,
               fmt::format("the end of the file, or {} bytes of modes", sequences_),
               fmt::format("{} more bytes", rest));
}

void IdxTable::checkSequences(std::string_view place) {
    const int tokenBytes = idxDtypeBytes(dtype_);
    std::int64_t previousEnd = 0;
    bool ascending = true;
    for (std::int64_t sequence = 0; sequence < sequences_; ++sequence) {
        const std::int64_t length = sequenceLength(sequence);
        if (length < 0)
            refuse(place, fmt::format("length of sequence {}", sequence), lengthOffset(sequence), "0 or more",
                   length);
        const std::int64_t begin = pointer(sequence);
        // 2^61 leaves room for every sum of a pointer and a sequence's bytes.
        if (begin < 0 || begin > (std::int64_t{1} << 61))
            refuse(place, fmt::format("byte pointer of sequence {}", sequence), pointerOffset(sequence),
                   "an offset from 0 to 2^61", begin);
        if (length == 0)
            continue;
        ascending = ascending && begin >= previousEnd;
        previousEnd = begin + length * tokenBytes;
        binBytes_ = std::max(binBytes_, previousEnd);
    }
    if (!ascending)
        checkOverlap(place);
}

void IdxTable::checkOverlap(std::string_view place) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(sequences_));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::erase_if(order, [this](std::int64_t sequence) { return sequenceLength(sequence) == 0; });
    std::sort(order.begin(), order.end(), [this](std::int64_t a, std::int64_t b) {
        return std::pair(pointer(a), a) < std::pair(pointer(b), b);
    });
    const int tokenBytes = idxDtypeBytes(dtype_);
    for (std::size_t place_ = 1; place_ < order.size(); ++place_) {
        const std::int64_t before = order[place_ - 1];
        const std::int64_t end = pointer(before) + std::int64_t{sequenceLength(before)} * tokenBytes;
        if (pointer(order[place_]) < end)
            refuse(place, fmt::format("byte pointer of sequence {}", order[place_]),
                   pointerOffset(order[place_]),
                   fmt::format("{} or more, the end of sequence {}", end, before), pointer(order[place_]));
    }
}

void IdxTable::checkDocuments(std::string_view place) const {
    if (firstSequence(0) != 0)
        refuse(place, "document index 0", documentOffset(0), 0, firstSequence(0));
    for (std::int64_t document = 1; document <= documents_; ++document) {
        const std::int64_t before = firstSequence(document - 1);
        const std::int64_t here = firstSequence(document);
        if (here < before || here > sequences_)
            refuse(place, fmt::format("document index {}", document), documentOffset(document),
                   fmt::format("a sequence from {} to {}", before, sequences_), here);
    }
    if (firstSequence(documents_) != sequences_)
        refuse(place, fmt::format("document index {}, the last", documents_), documentOffset(documents_),
               fmt::format("{}, the number of sequences", sequences_), firstSequence(documents_));
}

IdxSource::IdxSource(const std::filesystem::path& file)
    : path_(file.string()), file_(file), table_(file_.bytes(), path_) {}

std::vector<std::string> IdxSource::notices() const {
    if (table_.documents() == 0)
        return {path_ + ": no documents"};
    return {};
}

}  // namespace ballast
