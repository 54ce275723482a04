// SPDX-License-Identifier: Apache-2.0
#include "core/base/text_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/base/error.h"

namespace ballast {

std::string readTextFile(const std::filesystem::path& file, std::int64_t maxBytes) {
    std::error_code failure;
    if (!std::filesystem::exists(file, failure))
        throw Error(fmt::format("{}: no such file", file.string()));
    if (!std::filesystem::is_regular_file(file, failure))
        throw Error(fmt::format("{}: expected a regular file", file.string()));
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(fmt::format("{}: cannot be opened for reading", file.string()));
    std::string text;
    char block[1 << 16];
    while (stream.read(block, sizeof block), stream.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(stream.gcount()));
        if (static_cast<std::int64_t>(text.size()) > maxBytes)
            throw Error(
                fmt::format("{}: larger than the {} bytes expected at most", file.string(), maxBytes));
    }
    return text;
}

void writeTextFile(const std::filesystem::path& file, std::string_view text) {
    const std::filesystem::path temporary = file.string() + fmt::format(".{}.part", ::getpid());
    std::error_code failure;
    {
        std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
        stream.write(text.data(), static_cast<std::streamsize>(text.size()));
        stream.flush();
        if (!stream) {
            std::filesystem::remove(temporary, failure);
            throw Error(fmt::format("{}: cannot be written", file.string()), ErrorCode::WorkFailed);
        }
    }
    std::filesystem::rename(temporary, file, failure);
    if (failure) {
        const std::string reason = failure.message();
        std::filesystem::remove(temporary, failure);
        throw Error(fmt::format("{}: cannot be written: {}", file.string(), reason), ErrorCode::WorkFailed);
    }
}

}  // namespace ballast
