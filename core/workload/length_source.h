// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ballast {

/// Document lengths in the order of their source, readable at random. Immutable after opening; safe to read
/// from threads. Not a stream: order, cutting and batches are DocumentStream's.
class LengthSource {
  public:
    virtual ~LengthSource() = default;

    /// Number of documents, empty ones counted; absent for a distribution, which never ends.
    virtual std::optional<std::int64_t> documents() const = 0;
    /// Documents to draw for statistics of this source: documents(), or the sample size a distribution
    /// states.
    virtual std::int64_t sampleDocuments() const = 0;
    /// Length in tokens of a document; 0 <= document < documents().
    virtual std::int64_t length(std::int64_t document) const = 0;
    /// Lengths of `out.size()` documents from `first` on.
    virtual void copyLengths(std::int64_t first, std::span<std::int64_t> out) const {
        for (std::int64_t& each : out)
            each = length(first++);
    }
    /// Sentences about harmless oddities ("lengths.csv: no documents").
    virtual std::vector<std::string> notices() const { return {}; }
    /// Where the numbers are from, for printing beside results.
    virtual std::string description() const = 0;
};

/// Opens a preset by name (drawn with `seed`), or files: .idx, .npy, .csv/.tsv (`PATH#COLUMN`, or a histogram
/// length,count), .jsonl (`PATH#FIELD`), .txt, .json (an array of lengths, or a distribution like the
/// presets'); the text formats also as .gz or .zst. Several paths are joined in order. All are checked before
/// anything is read. Throws Error with file and line or offset.
std::unique_ptr<LengthSource> openLengthSource(std::span<const std::string> source, std::uint64_t seed);

std::vector<std::string> lengthPresetNames();

}  // namespace ballast
