// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ballast {

/// Reads a small text file whole. Throws Error (BadInput) naming the file when it is missing, not a regular
/// file, unreadable or over `maxBytes`.
std::string readTextFile(const std::filesystem::path& file, std::int64_t maxBytes = 16 << 20);

/// Writes through a temporary name beside the file and a rename, so that nobody ever sees half of it. Throws
/// Error (WorkFailed) naming the file.
void writeTextFile(const std::filesystem::path& file, std::string_view text);

}  // namespace ballast
