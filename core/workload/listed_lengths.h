// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/workload/length_source.h"

namespace ballast {

/// Lengths that a text reader has read, one document each.
class ListedLengths : public LengthSource {
  public:
    ListedLengths(std::string description, std::vector<std::int64_t> lengths)
        : description_(std::move(description)), lengths_(std::move(lengths)) {}

    std::optional<std::int64_t> documents() const override { return sampleDocuments(); }
    std::int64_t sampleDocuments() const override { return static_cast<std::int64_t>(lengths_.size()); }
    std::int64_t length(std::int64_t document) const override {
        return lengths_[static_cast<std::size_t>(document)];
    }
    std::vector<std::string> notices() const override;
    std::string description() const override { return description_; }

  private:
    std::string description_;
    std::vector<std::int64_t> lengths_;
};

/// Lengths and their sum stay below this, so that no count derived from them overflows 64 bits.
inline constexpr std::int64_t kMaxTokens = std::int64_t{1} << 62;

/// Collects a text file's lengths line by line and keeps their sum in range.
class LengthCollector {
  public:
    explicit LengthCollector(std::string_view place) : place_(place) {}

    /// Throws Error "<place>: line <line>: ..." when the sum leaves the range; tokens >= 0.
    void add(std::int64_t tokens, std::int64_t line);
    /// The length that a cell of digits states; white space around it is ignored. Throws Error with the line
    /// for anything negative, fractional, too large or not a number. `what` names the cell ("column tokens").
    void addText(std::string_view cell, std::int64_t line, std::string_view what);
    [[noreturn]] void refuse(std::int64_t line, std::string_view sentence) const;

    std::vector<std::int64_t> take() { return std::move(lengths_); }

  private:
    std::string place_;
    std::vector<std::int64_t> lengths_;
    std::int64_t tokens_ = 0;
};

/// Without a UTF-8 byte order mark.
std::string_view withoutByteOrderMark(std::string_view text);
/// Takes the next line off `text`, without its line end (\n or \r\n).
std::string_view takeLine(std::string_view& text);
std::string_view trimmed(std::string_view text);
/// For messages: at most 40 characters of text from outside, unprintable ones as '?'.
std::string excerpt(std::string_view text);

}  // namespace ballast
