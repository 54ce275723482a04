// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace ballast {

/// A regular file as read-only memory, so that its size bounds what a reader may touch. Immutable; safe to
/// read from threads.
class MappedFile {
  public:
    /// Throws Error naming the file when it is missing, no regular file, or can't be read.
    explicit MappedFile(const std::filesystem::path& file);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Size of a regular file. Same errors as MappedFile.
std::int64_t regularFileSize(const std::filesystem::path& file);

}  // namespace ballast
