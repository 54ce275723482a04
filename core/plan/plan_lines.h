// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ballast {

inline constexpr std::string_view kPlanFormat = "ballast-plan";
inline constexpr int kPlanVersion = 1;

/// The lines of a plan file, their checksums verified and taken off. Memory is bounded by the longest line
/// allowed, whatever the file says. Not a JSON reader.
class PlanLines {
  public:
    /// Throws Error with the path when the file cannot be read.
    explicit PlanLines(std::filesystem::path file);

    /// The next line, or nothing at the end. Throws Error with file and line for a line that is too long,
    /// not ended by a newline, or does not match its checksum.
    std::optional<std::string> next();
    /// "plan.jsonl:3", the line last given.
    std::string place() const;

  private:
    struct Close {
        void operator()(std::FILE* stream) const { std::fclose(stream); }
    };
    bool fill();

    std::filesystem::path file_;
    std::unique_ptr<std::FILE, Close> stream_;
    std::int64_t line_ = 0;
    std::array<char, 1 << 16> buffer_{};
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace ballast
