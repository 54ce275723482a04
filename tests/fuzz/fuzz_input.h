// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace ballast {

inline std::string_view asText(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Runs a reader: an Error is how it refuses, and its sentence must not be empty; anything else ends the
/// program.
template <class Reader>
int readOrRefuse(const Reader& reader) {
    try {
        reader();
    } catch (const Error& refusal) {
        if (std::string_view(refusal.what()).empty())
            std::abort();
    }
    return 0;
}

/// The input as a file, for readers that take a path.
inline std::filesystem::path asFile(std::string_view name, const std::uint8_t* data, std::size_t size) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                       ("ballast-fuzz-" + std::string(name) + std::to_string(::getpid()));
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return file;
}

}  // namespace ballast
