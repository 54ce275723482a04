// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_lines.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/timeline/crc32.h"

namespace ballast {
namespace {

constexpr std::size_t kLongestLine = std::size_t{256} << 20;
constexpr std::string_view kChecksumKey = ",\"crc32\":\"";
constexpr std::size_t kChecksumSize = kChecksumKey.size() + 8 + 2;  // eight digits, quote, brace

}  // namespace

PlanLines::PlanLines(std::filesystem::path file) : file_(std::move(file)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file_, ignored))
        throw Error(fmt::format("{}: expected a plan file, found a folder", file_.string()));
    stream_.reset(std::fopen(file_.c_str(), "rb"));
    if (!stream_)
        throw Error(fmt::format("{}: cannot open the plan: {}", file_.string(), std::strerror(errno)));
}

std::string PlanLines::place() const {
    return fmt::format("{}:{}", file_.string(), line_);
}

bool PlanLines::fill() {
    begin_ = 0;
    end_ = std::fread(buffer_.data(), 1, buffer_.size(), stream_.get());
    if (end_ == 0 && std::ferror(stream_.get()))
        throw Error(fmt::format("{}: cannot read the plan: {}", file_.string(), std::strerror(errno)));
    return end_ > 0;
}

std::optional<std::string> PlanLines::next() {
    std::string line;
    bool ended = false;
    ++line_;
    while (!ended && (begin_ < end_ || fill())) {
        const char* from = buffer_.data() + begin_;
        const void* newline = std::memchr(from, '\n', end_ - begin_);
        std::size_t count =
            newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - from) : end_ - begin_;
        line.append(from, count);
        begin_ += count + (newline ? 1 : 0);
        ended = newline != nullptr;
        if (line.size() > kLongestLine)
            throw Error(fmt::format("{}: expected a line of at most {} bytes", place(), kLongestLine));
    }
    if (!ended && line.empty()) {
        --line_;
        return std::nullopt;
    }
    if (!ended)
        throw Error(
            fmt::format("{}: the file is torn here: expected a line that ends with a newline", place()));
    if (line.size() < kChecksumSize)
        return line;
    std::size_t body = line.size() - kChecksumSize;
    if (line.compare(body, kChecksumKey.size(), kChecksumKey) != 0)
        return line;
    std::string expected = fmt::format("{:08x}", crc32(line.data(), body));
    if (line.compare(body + kChecksumKey.size(), std::string::npos, expected + "\"}") != 0)
        throw Error(fmt::format("{}: damaged line: expected crc32 \"{}\", found \"{}\"", place(), expected,
                                line.substr(body + kChecksumKey.size(), 8)));
    line.resize(body);
    line += '}';
    return line;
}

}  // namespace ballast
