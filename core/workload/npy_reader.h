// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/workload/length_source.h"
#include "core/workload/mapped_file.h"

namespace ballast {

/// A one-dimensional array of whole numbers in NumPy's .npy format (versions 1 to 3, little-endian), over
/// bytes that it only borrows. After construction every number has been checked to be a length. source: the
/// format's specification, numpy.lib.format
class NpyTable {
  public:
    /// Throws Error "<place>: ...", with the byte, what was expected and what was found.
    NpyTable(std::span<const std::byte> bytes, std::string_view place);

    std::int64_t size() const { return size_; }
    std::int64_t at(std::int64_t index) const;

  private:
    void readHeader(std::string_view header, std::string_view place);
    void checkNumbers(std::string_view place) const;

    std::span<const std::byte> numbers_;
    std::int64_t size_ = 0;
    int width_ = 0;  ///< bytes of a number
    bool isSigned_ = false;
};

/// A mapped .npy as a length source.
class NpySource : public LengthSource {
  public:
    explicit NpySource(const std::filesystem::path& file);

    std::optional<std::int64_t> documents() const override { return table_.size(); }
    std::int64_t sampleDocuments() const override { return table_.size(); }
    std::int64_t length(std::int64_t document) const override { return table_.at(document); }
    std::vector<std::string> notices() const override;
    std::string description() const override { return path_; }

  private:
    std::string path_;
    MappedFile file_;
    NpyTable table_;
};

}  // namespace ballast
