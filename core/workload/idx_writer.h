// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ballast {

/// A file that appears under its name only when it is whole: written beside it under a temporary name,
/// removed again unless committed.
class PendingFile {
  public:
    explicit PendingFile(std::filesystem::path file);
    ~PendingFile();
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;

    void write(const void* data, std::size_t bytes);
    /// Flushes and checks; throws Error (WorkFailed) with the file and the system's reason.
    void close();
    /// After close(): takes the name.
    void commit();

  private:
    [[noreturn]] void fail() const;

    std::filesystem::path file_;
    std::filesystem::path temporary_;
    std::ofstream stream_;
    bool committed_ = false;
};

/// The tables of a Megatron data set of bytes (dtype uint8), collected document by document.
class ByteIndex {
  public:
    /// A document over 2^31 - 1 tokens becomes several sequences, since a length there is an int32.
    void addDocument(std::int64_t tokens);
    void write(PendingFile& file) const;
    std::int64_t documents() const { return static_cast<std::int64_t>(documentIndices_.size()) - 1; }

  private:
    std::vector<std::int32_t> lengths_;
    std::vector<std::int64_t> pointers_;
    std::vector<std::int64_t> documentIndices_ = {0};
    std::int64_t bytes_ = 0;
};

}  // namespace ballast
