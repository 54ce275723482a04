// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/workload/length_source.h"
#include "core/workload/mapped_file.h"

namespace ballast {

/// Element types of a Megatron .bin; the values are on disk.
enum class IdxDtype : std::uint8_t {
    UInt8 = 1,
    Int8 = 2,
    Int16 = 3,
    Int32 = 4,
    Int64 = 5,
    Float64 = 6,
    Float32 = 7,
    UInt16 = 8
};
int idxDtypeBytes(IdxDtype dtype);
std::string_view idxDtypeName(IdxDtype dtype);

inline constexpr std::int64_t kIdxHeaderBytes = 34;
inline constexpr std::string_view kIdxMagic{"MMIDIDX\0\0", 9};

/// The tables of a Megatron .idx (planner.md section 2), little-endian, over bytes that it only borrows.
/// After construction every count, length, offset and pointer has been checked against the bytes and against
/// each other.
class IdxTable {
  public:
    /// Throws Error "<place>: <field> at byte <offset>: expected ..., found ...". Allocates nothing sized by
    /// the file, save one list of sequences when its pointers do not ascend.
    IdxTable(std::span<const std::byte> bytes, std::string_view place);

    IdxDtype dtype() const { return dtype_; }
    std::int64_t sequences() const { return sequences_; }
    std::int64_t documents() const { return documents_; }
    std::int32_t sequenceLength(std::int64_t sequence) const;
    /// Byte of the .bin where a sequence starts.
    std::int64_t pointer(std::int64_t sequence) const;
    /// First sequence of a document; of `documents()`: the number of sequences.
    std::int64_t firstSequence(std::int64_t document) const;
    std::int64_t documentLength(std::int64_t document) const;
    /// Lengths of `out.size()` documents from `first` on.
    void copyDocumentLengths(std::int64_t first, std::span<std::int64_t> out) const;
    /// Bytes of .bin that the pointers need.
    std::int64_t binBytes() const { return binBytes_; }
    bool hasModes() const { return hasModes_; }

  private:
    std::int64_t lengthOffset(std::int64_t sequence) const { return kIdxHeaderBytes + 4 * sequence; }
    std::int64_t pointerOffset(std::int64_t sequence) const {
        return kIdxHeaderBytes + 4 * sequences_ + 8 * sequence;
    }
    std::int64_t documentOffset(std::int64_t document) const {
        return kIdxHeaderBytes + 12 * sequences_ + 8 * document;
    }
    void checkHeader(std::string_view place);
    void checkSequences(std::string_view place);
    void checkOverlap(std::string_view place) const;
    void checkDocuments(std::string_view place) const;

    std::span<const std::byte> bytes_;
    IdxDtype dtype_ = IdxDtype::UInt8;
    std::int64_t sequences_ = 0;
    std::int64_t documents_ = 0;
    std::int64_t binBytes_ = 0;
    bool hasModes_ = false;
};

/// A mapped .idx as a length source.
class IdxSource : public LengthSource {
  public:
    explicit IdxSource(const std::filesystem::path& file);

    const IdxTable& table() const { return table_; }

    std::optional<std::int64_t> documents() const override { return table_.documents(); }
    std::int64_t sampleDocuments() const override { return table_.documents(); }
    std::int64_t length(std::int64_t document) const override { return table_.documentLength(document); }
    void copyLengths(std::int64_t first, std::span<std::int64_t> out) const override {
        table_.copyDocumentLengths(first, out);
    }
    std::vector<std::string> notices() const override;
    std::string description() const override { return path_; }

  private:
    std::string path_;
    MappedFile file_;
    IdxTable table_;
};

}  // namespace ballast
