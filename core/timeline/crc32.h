// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ballast {

/// CRC-32 as in zlib and PNG (reflected polynomial 0xEDB88320, start and end inverted).
std::uint32_t crc32(const void* bytes, std::size_t size);

}  // namespace ballast
