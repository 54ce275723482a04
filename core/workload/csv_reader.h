// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/workload/histogram_lengths.h"
#include "core/workload/length_source.h"

namespace ballast {

/// One column of a CSV or TSV file (quotes as in RFC 4180) as lengths. `column` is a name of the header row,
/// or a number from 1; empty: the file has one column. The first row is a header when its cell of that column
/// does not start like a number. Blank lines are skipped; every row has as many cells as the first. Throws
/// Error "<place>: line <n>: ...".
std::vector<std::int64_t> parseCsvLengths(std::string_view text, char separator, std::string_view column,
                                          std::string_view place);
/// Rows of a CSV or TSV whose header is `length,count`; nothing for any other header. Their counts sum to at
/// most 2^40 documents. Throws as above.
std::optional<std::vector<HistogramLengths::Row>> parseHistogram(std::string_view text, char separator,
                                                                 std::string_view place);
/// Lengths of a column, or, without a named column, of a histogram. `.gz` and `.zst` are decompressed.
std::unique_ptr<LengthSource> openCsv(const std::filesystem::path& file, char separator,
                                      std::string_view column);

}  // namespace ballast
