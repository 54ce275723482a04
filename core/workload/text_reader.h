// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Plain text: one whole number a line; blank lines are skipped. Throws Error "<place>: line <n>: ...".
std::vector<std::int64_t> parseTextLengths(std::string_view text, std::string_view place);
std::unique_ptr<LengthSource> openText(const std::filesystem::path& file);

}  // namespace ballast
