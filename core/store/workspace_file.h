// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

/// The file of a workspace before SQLite touches it. Private to core/store.
namespace ballast {

/// "BLST", at byte 68 of the file (SQLite's application_id).
inline constexpr std::int64_t kApplicationId = 0x424C5354;

/// The schema number of a workspace file, read from its first 100 bytes (sqlite.org/fileformat2.html, section
/// 1.3). Throws Error with offset and what was expected for a missing, empty, foreign or truncated file;
/// never writes.
int readSchemaNumber(const std::filesystem::path& file);

/// Makes a new workspace beside `file` and puts it there in one step. Does nothing when another program was
/// faster.
void createWorkspaceFile(const std::filesystem::path& file);

}  // namespace ballast
