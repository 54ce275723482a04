// SPDX-License-Identifier: Apache-2.0
#include "core/store/workspace_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "core/base/embedded_text.h"
#include "core/base/error.h"
#include "core/store/sqlite.h"
#include "core/store/workspace.h"

namespace ballast {

std::span<const EmbeddedText> schemaTexts();

namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
using HeaderBytes = std::array<unsigned char, kHeaderBytes>;

std::uint32_t bigEndian(const HeaderBytes& header, std::size_t offset, std::size_t bytes) {
    std::uint32_t value = 0;
    for (std::size_t index = 0; index < bytes; ++index)
        value = value << 8 | header[offset + index];
    return value;
}

/// The page count in the header is trusted by SQLite only when bytes 24 and 92 agree; while a -wal file holds
/// pages the file may be shorter than it says.
void checkSize(const std::filesystem::path& file, const HeaderBytes& header, std::uintmax_t size) {
    const std::uint32_t stated = bigEndian(header, 16, 2);
    const std::uintmax_t pageSize = stated == 1 ? 65536 : stated;
    if (pageSize < 512 || (pageSize & (pageSize - 1)) != 0)
        throw Error(
            fmt::format("{}: offset 16: page size {}, expected a power of two from 512 to 65536: damaged "
                        "workspace",
                        file.string(), stated));
    std::filesystem::path log = file;
    log += "-wal";
    std::error_code problem;
    const std::uintmax_t logBytes = std::filesystem::file_size(log, problem);
    const bool pagesInLog = !problem && logBytes > 0;
    const std::uintmax_t expected = bigEndian(header, 28, 4) * pageSize;
    if (!pagesInLog && bigEndian(header, 24, 4) == bigEndian(header, 92, 4) && size < expected)
        throw Error(fmt::format("{}: offset {}: the file ends, expected {} bytes: truncated workspace",
                                file.string(), size, expected));
}

}  // namespace

int readSchemaNumber(const std::filesystem::path& file) {
    std::error_code problem;
    const std::filesystem::file_status status = std::filesystem::status(file, problem);
    if (!std::filesystem::exists(status))
        throw Error(fmt::format("{}: no such file, expected a workspace (.ballast)", file.string()));
    if (!std::filesystem::is_regular_file(status))
        throw Error(fmt::format("{}: not a regular file, expected a workspace (.ballast)", file.string()));
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(fmt::format("{}: cannot be opened: {}", file.string(), std::strerror(errno)));
    const std::uintmax_t size = std::filesystem::file_size(file, problem);
    if (size == 0)
        throw Error(fmt::format("{}: empty file, expected a workspace (.ballast)", file.string()));
    HeaderBytes header{};
    stream.read(reinterpret_cast<char*>(header.data()), kHeaderBytes);
    if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0)
        throw Error(
            fmt::format("{}: offset 0: not an SQLite file, expected a workspace (.ballast)", file.string()));
    if (stream.gcount() != kHeaderBytes)
        throw Error(
            fmt::format("{}: offset {}: the file ends, expected a header of {} bytes: truncated workspace",
                        file.string(), size, kHeaderBytes));
    const std::uint32_t application = bigEndian(header, 68, 4);
    if (application != kApplicationId)
        throw Error(fmt::format(
            "{}: offset 68: application id {:#010x}, expected {:#010x}: an SQLite file of another "
            "program, not a workspace",
            file.string(), application, kApplicationId));
    const auto schema = static_cast<std::int32_t>(bigEndian(header, 60, 4));
    if (schema < 1)
        throw Error(fmt::format("{}: offset 60: schema number {}, expected 1 or more: damaged workspace",
                                file.string(), schema));
    checkSize(file, header, size);
    return schema;
}

void createWorkspaceFile(const std::filesystem::path& file) {
    // Another name, of this thread alone, until the schema is in it, so that nobody ever opens half a
    // workspace.
    static std::atomic<int> counter = 0;
    std::filesystem::path temporary = file;
    temporary += fmt::format(".{}-{}.new", ::getpid(), ++counter);
    std::error_code problem;
    std::filesystem::remove(temporary, problem);
    try {
        sqlite::Connection connection(temporary, sqlite::Connection::Access::Create);
        connection.execute("PRAGMA journal_mode = WAL");
        sqlite::Transaction transaction(connection);
        connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                                       Workspace::kSchemaNumber));
        connection.execute(std::string(schemaTexts().front().text));
        transaction.commit();
    } catch (const Error&) {
        std::filesystem::remove(temporary, problem);
        throw;
    }
    std::filesystem::create_hard_link(temporary, file, problem);
    if (problem && problem != std::errc::file_exists) {
        // A file system without hard links: the last of several creators wins, and nobody has written yet.
        std::filesystem::rename(temporary, file, problem);
        if (problem)
            throw Error(fmt::format("{}: cannot be created: {}", file.string(), problem.message()));
        return;
    }
    std::filesystem::remove(temporary, problem);
}

}  // namespace ballast
