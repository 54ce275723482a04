// SPDX-License-Identifier: Apache-2.0
#include "core/base/pending_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace ballast {

PendingFile::PendingFile(std::filesystem::path file)
    : file_(std::move(file)), temporary_(fmt::format("{}.{}.part", file_.string(), ::getpid())) {
    std::error_code problem;
    const std::filesystem::file_status status = std::filesystem::status(file_, problem);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw Error(
            fmt::format("{}: cannot be written: there is something of this name, expected a regular "
                        "file or none",
                        file_.string()));
    stream_ = std::fopen(temporary_.c_str(), "wbe");
    if (stream_ == nullptr)
        throw Error(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)));
}

PendingFile::~PendingFile() {
    if (stream_ != nullptr)
        std::fclose(stream_);
    std::error_code ignored;
    if (!committed_)
        std::filesystem::remove(temporary_, ignored);
}

void PendingFile::fail() const {
    throw Error(fmt::format("{}: cannot be written: {}", file_.string(), std::strerror(errno)),
                ErrorCode::WorkFailed);
}

void PendingFile::write(const void* data, std::size_t bytes) {
    if (bytes > 0 && std::fwrite(data, 1, bytes, stream_) != bytes)  // an empty span may be null
        fail();
}

void PendingFile::close() {
    if (std::fflush(stream_) != 0 || ::fsync(::fileno(stream_)) != 0)
        fail();
    std::fclose(std::exchange(stream_, nullptr));
}

void PendingFile::commit() {
    if (std::rename(temporary_.c_str(), file_.c_str()) != 0)
        fail();
    committed_ = true;
}

}  // namespace ballast
