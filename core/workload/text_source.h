// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "core/workload/mapped_file.h"

namespace ballast {

enum class Compression { None, Gzip, Zstandard };
/// By the last extension: .gz, .zst.
Compression compressionOf(const std::filesystem::path& file);

/// Takes decompressed bytes block by block.
using ByteSink = std::function<void(std::string_view block)>;

/// Decompresses a whole stream (gzip members or zstd frames, one after the other) in bounded memory. Throws
/// Error
/// "<place>: byte <offset>: ..." for anything damaged, truncated or followed by something else.
void decompress(std::string_view compressed, Compression compression, std::string_view place,
                const ByteSink& sink);

/// The text of a file, decompressed when its name says so: into a file without a name in the temporary
/// folder, so that a text of any size needs no memory of its own.
class TextSource {
  public:
    /// Throws Error naming the file; also when the temporary folder has no room for the text.
    explicit TextSource(const std::filesystem::path& file);

    std::string_view text() const { return mapped_.text(); }

  private:
    MappedFile mapped_;
};

}  // namespace ballast
