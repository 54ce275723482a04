// SPDX-License-Identifier: Apache-2.0
#include "core/workload/listed_lengths.h"

#include <fmt/core.h>

#include <charconv>

#include "core/base/error.h"

namespace ballast {

std::vector<std::string> ListedLengths::notices() const {
    if (lengths_.empty())
        return {description_ + ": no documents"};
    return {};
}

void LengthCollector::refuse(std::int64_t line, std::string_view sentence) const {
    throw Error(fmt::format("{}: line {}: {}", place_, line, sentence));
}

void LengthCollector::add(std::int64_t tokens, std::int64_t line) {
    if (tokens > kMaxTokens - tokens_)
        refuse(line,
               fmt::format("the lengths up to here sum to more than 2^62 tokens (this one is {})", tokens));
    tokens_ += tokens;
    lengths_.push_back(tokens);
}

void LengthCollector::addText(std::string_view cell, std::int64_t line, std::string_view what) {
    const std::string_view digits = trimmed(cell);
    std::int64_t tokens = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), tokens);
    const bool whole = !digits.empty() && end == digits.data() + digits.size();
    if (problem == std::errc::result_out_of_range)
        refuse(line,
               fmt::format("{}: expected a length of at most 2^62 tokens, found {}", what, excerpt(digits)));
    if (problem != std::errc() || !whole)
        refuse(line,
               fmt::format("{}: expected a whole number of tokens, found \"{}\"", what, excerpt(digits)));
    if (tokens < 0)
        refuse(line, fmt::format("{}: expected a length of 0 or more, found {}", what, tokens));
    add(tokens, line);
}

std::string_view withoutByteOrderMark(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string_view takeLine(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string excerpt(std::string_view text) {
    constexpr std::size_t kShown = 40;
    std::string shown(text.substr(0, kShown));
    for (char& letter : shown) {
        if (letter < 0x20 || letter > 0x7E)
            letter = '?';
    }
    return text.size() > kShown ? shown + "..." : shown;
}

}  // namespace ballast
