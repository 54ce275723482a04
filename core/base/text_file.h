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

/// Writes it whole or not at all (PendingFile, whose errors it throws).
void writeTextFile(const std::filesystem::path& file, std::string_view text);

}  // namespace ballast
