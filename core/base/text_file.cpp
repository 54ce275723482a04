// SPDX-License-Identifier: Apache-2.0
#include "core/base/text_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/base/pending_file.h"

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
    PendingFile pending(file);
    pending.write(text);
    pending.close();
    pending.commit();
}

}  // namespace ballast
