// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/launcher_log.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace ballast {
namespace {

/// A log may be of any size; what matters stands at its end.
constexpr std::int64_t kTailBytes = 256 << 10;

struct TaggedLine {
    int rank = -1;
    std::string_view text;
};

std::optional<int> numberAt(std::string_view text, std::size_t begin) {
    int number = 0;
    const auto [end, code] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return code == std::errc() ? std::optional(number) : std::nullopt;
}

TaggedLine untagged(std::string_view line) {
    if (!line.starts_with("[1,"))
        return {-1, line};
    const std::size_t close = line.find("]<");
    const std::size_t colon = line.find(">:", close);
    const std::optional<int> rank = numberAt(line, 3);
    if (close == std::string_view::npos || colon == std::string_view::npos || !rank)
        return {-1, line};
    return {*rank, line.substr(colon + 2)};
}

}  // namespace

std::vector<std::string> LauncherLog::tail() const {
    std::vector<std::string> lines;
    std::ifstream stream(file_, std::ios::binary | std::ios::ate);
    if (!stream)
        return lines;
    const std::int64_t size = stream.tellg();
    stream.seekg(std::max<std::int64_t>(0, size - kTailBytes));
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> LauncherLog::lastLines(int rank, std::size_t count) const {
    std::vector<std::string> lines;
    for (const std::string& line : tail())
        if (const TaggedLine tagged = untagged(line); tagged.rank == rank && !tagged.text.empty())
            lines.emplace_back(tagged.text);
    if (lines.size() > count)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
    return lines;
}

std::optional<int> LauncherLog::rankThatEndedTheJob() const {
    // "mpirun noticed that process rank 2 with PID 0 on node ... exited on signal 9 (Killed)."
    constexpr std::string_view kPhrase = "noticed that process rank ";
    for (const std::string& line : tail())
        if (const std::size_t at = line.find(kPhrase); at != std::string::npos)
            return numberAt(line, at + kPhrase.size());
    return std::nullopt;
}

}  // namespace ballast
