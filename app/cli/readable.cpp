// SPDX-License-Identifier: Apache-2.0
#include "app/cli/readable.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ballast::cli {

std::string grouped(std::int64_t number) {
    std::string digits = fmt::format("{}", number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > first; place -= 3)
        digits.insert(static_cast<std::size_t>(place), ",");
    return digits;
}

std::string readableSeconds(double seconds) {
    struct Unit {
        double size;
        const char* name;
    };
    constexpr std::array kUnits = {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}};
    for (const Unit& unit : kUnits) {
        if (std::abs(seconds) >= unit.size)
            return fmt::format("{:.3g} {}", seconds / unit.size, unit.name);
    }
    return seconds == 0 ? "0 s" : fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string readableShare(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string readableChange(double change) {
    return fmt::format("{:+.1f} %", 100 * change);
}

TextTable::TextTable(std::vector<std::string> heading) {
    rows_.push_back(std::move(heading));
}

void TextTable::add(std::vector<std::string> row) {
    rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    }
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            if (column == 0)
                line += fmt::format("{:<{}}", row[column], widths[column]);
            else
                line += fmt::format("  {:>{}}", row[column], widths[column]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace ballast::cli
