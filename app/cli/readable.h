// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ballast::cli {

/// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number);
/// Seconds with the unit that fits: "1.23 ms".
std::string readableSeconds(double seconds);
/// 0.123 -> "12.3 %".
std::string readableShare(double share);
/// 0.05 -> "+5.0 %".
std::string readableChange(double change);

/// Rows of text in aligned columns, numbers to the right: the first column is left-aligned, the others right.
class TextTable {
  public:
    explicit TextTable(std::vector<std::string> heading);

    void add(std::vector<std::string> row);
    /// Lines, each ended; columns two spaces apart.
    std::string text() const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ballast::cli
