// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// JSON Lines: of each line's object one field, or the line's value itself when it is no object. An integer
/// is a length; of an array the number of elements is taken, of a string its bytes in UTF-8 (the tokens that
/// `ballast scan` would make of it). `field` may be empty when the objects have a single field. Blank lines
/// are skipped. Throws Error "<place>: line <n>: ...". A line is scanned, not built, so memory stays small.
std::vector<std::int64_t> parseJsonLengths(std::string_view text, std::string_view field,
                                           std::string_view place);
/// One JSON array of whole numbers. Throws Error "<place>: ...".
std::vector<std::int64_t> parseJsonArray(std::string_view text, std::string_view place);

std::unique_ptr<LengthSource> openJsonLines(const std::filesystem::path& file, std::string_view field);

}  // namespace ballast
