// SPDX-License-Identifier: Apache-2.0
#include "core/workload/npy_reader.h"

#include <fmt/core.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/workload/listed_lengths.h"

namespace ballast {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

constexpr std::string_view kMagic{"\x93NUMPY", 6};

[[noreturn]] void refuse(std::string_view place, std::size_t offset, std::string_view sentence) {
    throw Error(fmt::format("{}: byte {}: {}", place, offset, sentence));
}

template <class Number>
Number numberAt(std::span<const std::byte> bytes, std::size_t offset) {
    Number number;
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

/// What follows `'key':` in the header's dictionary, up to the next comma outside parentheses or the end.
std::string_view valueOf(std::string_view header, std::string_view key) {
    for (const char quote : {'\'', '"'}) {
        const std::string wanted = fmt::format("{}{}{}", quote, key, quote);
        const std::size_t found = header.find(wanted);
        if (found == std::string_view::npos)
            continue;
        std::string_view rest = trimmed(header.substr(found + wanted.size()));
        if (!rest.starts_with(':'))
            continue;
        rest = trimmed(rest.substr(1));
        const std::size_t end = rest.starts_with('(') ? rest.find(')') + 1 : rest.find_first_of(",}");
        return trimmed(rest.substr(0, end));
    }
    return {};
}

}  // namespace

NpyTable::NpyTable(std::span<const std::byte> bytes, std::string_view place) {
    constexpr std::size_t kFixed = 8;  // magic and version
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (bytes.size() < kFixed || !text.starts_with(kMagic))
        refuse(place, 0, "expected \\x93NUMPY and a version, found something else: no .npy file");
    const int version = std::to_integer<int>(bytes[6]);
    if (version < 1 || version > 3)
        refuse(place, 6, fmt::format("version: expected 1 to 3, found {}", version));
    const std::size_t lengthBytes = version == 1 ? 2 : 4;
    if (bytes.size() < kFixed + lengthBytes)
        refuse(place, bytes.size(), "the file ends inside its header");
    const std::size_t headerBytes =
        version == 1 ? numberAt<std::uint16_t>(bytes, kFixed) : numberAt<std::uint32_t>(bytes, kFixed);
    const std::size_t begin = kFixed + lengthBytes;
    if (headerBytes > bytes.size() - begin)
        refuse(place, kFixed,
               fmt::format("header length: expected at most {} in a file of {} bytes, found {}",
                           bytes.size() - begin, bytes.size(), headerBytes));
    readHeader(text.substr(begin, headerBytes), place);
    numbers_ = bytes.subspan(begin + headerBytes);
    const auto width = static_cast<std::size_t>(width_);
    if (numbers_.size() % width != 0 || numbers_.size() / width != static_cast<std::size_t>(size_))
        refuse(place, begin + headerBytes,
               fmt::format("expected {} numbers of {} bytes, found {} bytes", size_, width, numbers_.size()));
    checkNumbers(place);
}

void NpyTable::readHeader(std::string_view header, std::string_view place) {
    std::string_view type = valueOf(header, "descr");
    if (type.size() >= 2)
        type = type.substr(1, type.size() - 2);  // its quotes
    constexpr std::string_view kTypes = "|i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8";
    if (type.size() != 3 || kTypes.find(type) == std::string_view::npos)
        refuse(place, 10,
               fmt::format("descr: expected whole numbers, one of {}, found \"{}\"", kTypes, excerpt(type)));
    isSigned_ = type[1] == 'i';
    width_ = type[2] - '0';
    const std::string_view shape = valueOf(header, "shape");
    std::string_view inside = shape.size() >= 2 && shape.front() == '(' && shape.back() == ')'
                                  ? shape.substr(1, shape.size() - 2)
                                  : "";
    inside = trimmed(inside);
    if (inside.ends_with(','))
        inside = trimmed(inside.substr(0, inside.size() - 1));
    const auto [end, problem] = std::from_chars(inside.data(), inside.data() + inside.size(), size_);
    if (inside.empty() || problem != std::errc() || end != inside.data() + inside.size() || size_ < 0)
        refuse(place, 10, fmt::format("shape: expected one dimension, as in (5,), found {}", excerpt(shape)));
}

void NpyTable::checkNumbers(std::string_view place) const {
    std::int64_t tokens = 0;
    for (std::int64_t index = 0; index < size_; ++index) {
        const std::int64_t length = at(index);
        if (length < 0 && width_ == 8 && !isSigned_)
            throw Error(fmt::format("{}: number {}: expected a length of at most 2^62 tokens, found {}",
                                    place, index, static_cast<std::uint64_t>(length)));
        if (length < 0)
            throw Error(
                fmt::format("{}: number {}: expected a length of 0 or more, found {}", place, index, length));
        if (length > kMaxTokens - tokens)
            throw Error(fmt::format("{}: number {}: the lengths up to here sum to more than 2^62 tokens",
                                    place, index));
        tokens += length;
    }
}

std::int64_t NpyTable::at(std::int64_t index) const {
    const std::size_t offset = static_cast<std::size_t>(index) * static_cast<std::size_t>(width_);
    switch (width_) {
        case 1:
            return isSigned_ ? numberAt<std::int8_t>(numbers_, offset)
                             : numberAt<std::uint8_t>(numbers_, offset);
        case 2:
            return isSigned_ ? numberAt<std::int16_t>(numbers_, offset)
                             : numberAt<std::uint16_t>(numbers_, offset);
        case 4:
            return isSigned_ ? std::int64_t{numberAt<std::int32_t>(numbers_, offset)}
                             : std::int64_t{numberAt<std::uint32_t>(numbers_, offset)};
        default:
            return numberAt<std::int64_t>(numbers_, offset);
    }
}

NpySource::NpySource(const std::filesystem::path& file)
    : path_(file.string()), file_(file), table_(file_.bytes(), path_) {}

std::vector<std::string> NpySource::notices() const {
    if (table_.size() == 0)
        return {path_ + ": no documents"};
    return {};
}

}  // namespace ballast
