// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace ballast {

/// A file that appears under its name only when it is whole: written beside it under a temporary name,
/// removed again unless committed. Replaces a regular file of that name and nothing else (no folder, device
/// or pipe).
class PendingFile {
  public:
    /// Throws Error (BadInput) naming the file when it is there and not regular, or the folder takes no file.
    explicit PendingFile(std::filesystem::path file);
    ~PendingFile();
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;

    /// These three throw Error (WorkFailed) with the file and the system's reason.
    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    /// Brings everything to the disk.
    void close();
    /// After close(): takes the name.
    void commit();

  private:
    [[noreturn]] void fail() const;

    std::filesystem::path file_;
    std::filesystem::path temporary_;
    std::FILE* stream_ = nullptr;
    bool committed_ = false;
};

}  // namespace ballast
