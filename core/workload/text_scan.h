// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/job/scenario.h"

namespace ballast {

/// What `ballast scan` is asked for, formats.md "scan".
struct ScanOptions {
    std::filesystem::path directory;
    std::filesystem::path prefix;  ///< writes prefix.bin, prefix.idx, prefix.files
    DocumentOrder order = DocumentOrder::Source;
    std::uint64_t seed = 1;  ///< of the shuffled order and of a preset of lengths
    std::optional<std::int64_t> maxFiles;
    /// Documents are taken until those that count hold this many tokens; the last one is taken whole.
    std::optional<std::int64_t> maxTokens;
    /// Only documents of at most this many tokens count toward maxTokens; longer ones are written all the
    /// same.
    std::optional<std::int64_t> window;
    /// Lengths source: the files' bytes, joined in order, are cut into documents of its lengths in turn, from
    /// its start again when it ends. Empty: one document a file.
    std::vector<std::string> lengths;
    /// Called now and then with the tokens taken so far.
    std::function<void(std::int64_t files, std::int64_t tokens)> progress;
};

struct ScanResult {
    std::int64_t files = 0;
    std::int64_t documents = 0;
    std::int64_t tokens = 0;  ///< = bytes
    std::int64_t emptyFiles = 0;
    std::int64_t binaryFiles = 0;      ///< a NUL in the first 8 KiB
    std::int64_t compressedFiles = 0;  ///< by their first bytes
    std::int64_t links = 0;            ///< not followed
    std::int64_t unreadable = 0;       ///< files and folders
    std::int64_t overlongDocuments = 0;
    std::int64_t overlongTokens = 0;
    std::int64_t filesBeyondCap = 0;  ///< not looked at, since a maximum was reached
    std::int64_t bytesBeyondCap = 0;
};

/// Text files of a folder -> a Megatron data set: token = byte (uint8), no end-of-document token. Files in
/// byte order of their path, or shuffled by the seed. Written under temporary names and renamed at the end;
/// on an error nothing is left. Throws Error (BadInput) for a folder, prefix or lengths that can't be used,
/// (WorkFailed) when writing fails.
ScanResult scanText(const ScanOptions& options);

}  // namespace ballast
