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
    /// A file that is open already, under the name that errors give; the descriptor stays the caller's.
    MappedFile(int descriptor, const std::filesystem::path& name);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }
    std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
    std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  private:
    void map(int descriptor, const std::filesystem::path& name);

    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Size of a regular file. Same errors as MappedFile.
std::int64_t regularFileSize(const std::filesystem::path& file);

}  // namespace ballast
