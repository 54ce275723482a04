// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/crc32.h"

#include <array>
#include <cstring>

namespace ballast {
namespace {

constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

/// Table k advances a byte over k more bytes, so that eight bytes are folded at once.
constexpr Tables makeTables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
        tables[0][byte] = crc;
    }
    for (std::size_t slice = 1; slice < kSlices; ++slice)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    return tables;
}

constexpr Tables kTables = makeTables();

}  // namespace

std::uint32_t crc32(const void* bytes, std::size_t size) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    std::uint32_t crc = 0xFFFFFFFFu;
    for (; size >= kSlices; size -= kSlices, at += kSlices) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        word ^= crc;
        crc = 0;
        for (std::size_t i = 0; i < kSlices; ++i)
            crc ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xFF];
    }
    for (; size > 0; --size, ++at)
        crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xFF];
    return ~crc;
}

}  // namespace ballast
