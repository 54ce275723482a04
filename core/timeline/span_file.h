// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/timeline/span.h"

namespace ballast {

/// What a rank reports with the spans of a step it finished. Peak resident bytes by class of memory_cost.h.
struct StepReport {
    std::int64_t step = 0;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    double lossSum = 0;        ///< summed cross entropy of the step over the whole job
    std::int64_t targets = 0;  ///< of the whole job
    std::int64_t tokens = 0;   ///< of the whole job
    double gradientNorm = 0;   ///< before clipping; NaN when the step had no targets
    double learningRate = 0;
    std::int64_t peakBytes[6] = {};  ///< weights, gradients, optimizer, activations, gathered K and V, logits

    bool operator==(const StepReport&) const = default;
};

/// One framed chunk of a spool file (SPAN_FORMAT.md): length, rank, step, count, report, spans, CRC-32. The
/// last chunk of a step is its end mark.
struct SpoolChunk {
    std::int32_t rank = 0;
    StepReport report;
    std::vector<Span> spans;
};

/// Appends each step's chunk to spool/<rank> with one write(2), so that what is written outlives any killed
/// process.
class SpoolWriter {
  public:
    /// Creates the file, or continues it after its last whole chunk. Throws Error (WorkFailed) with the path.
    SpoolWriter(const std::filesystem::path& file, std::int32_t rank);
    ~SpoolWriter();
    SpoolWriter(const SpoolWriter&) = delete;
    SpoolWriter& operator=(const SpoolWriter&) = delete;

    /// Sorts the spans by lane, then begin.
    void append(const StepReport& report, const std::vector<Span>& spans);

  private:
    std::filesystem::path file_;
    int descriptor_ = -1;
    std::int32_t rank_;
};

/// Reads the chunks that are whole; a torn tail (a killed writer) is left for later, a damaged chunk throws
/// Error with file and offset.
class SpoolReader {
  public:
    explicit SpoolReader(std::filesystem::path file, std::int32_t rank);
    ~SpoolReader();
    SpoolReader(SpoolReader&&) noexcept;

    /// The next whole chunk, or nothing for now. A file that is not there yet gives nothing.
    std::optional<SpoolChunk> next();
    std::int64_t offset() const { return offset_; }
    /// True when bytes follow the last whole chunk (asked once the rank has ended: the step it died in).
    bool hasTornTail() const;

  private:
    std::filesystem::path file_;
    std::int32_t rank_;
    std::int64_t offset_ = 0;
    int descriptor_ = -1;
};

}  // namespace ballast
