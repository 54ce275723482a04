// SPDX-License-Identifier: Apache-2.0
#include "core/workload/idx_writer.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/workload/idx_reader.h"

namespace ballast {

PendingFile::PendingFile(std::filesystem::path file)
    : file_(std::move(file)), temporary_(fmt::format("{}.{}.part", file_.string(), ::getpid())) {
    errno = 0;
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    if (!stream_)
        throw Error(fmt::format("{}: cannot write: {}", temporary_.string(), std::strerror(errno)));
}

PendingFile::~PendingFile() {
    if (committed_)
        return;
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

void PendingFile::fail() const {
    throw Error(fmt::format("{}: cannot write: {}", temporary_.string(), std::strerror(errno)),
                ErrorCode::WorkFailed);
}

void PendingFile::write(const void* data, std::size_t bytes) {
    stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    if (!stream_)
        fail();
}

void PendingFile::close() {
    stream_.close();
    if (!stream_)
        fail();
}

void PendingFile::commit() {
    std::error_code problem;
    std::filesystem::rename(temporary_, file_, problem);
    if (problem)
        throw Error(fmt::format("{}: cannot rename to {}: {}", temporary_.string(), file_.string(),
                                problem.message()),
                    ErrorCode::WorkFailed);
    committed_ = true;
}

void ByteIndex::addDocument(std::int64_t tokens) {
    constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
    do {
        const std::int64_t here = std::min(tokens, kLongest);
        lengths_.push_back(static_cast<std::int32_t>(here));
        pointers_.push_back(bytes_);
        bytes_ += here;
        tokens -= here;
    } while (tokens > 0);
    documentIndices_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

void ByteIndex::write(PendingFile& file) const {
    const auto put = [&file](const auto& value) { file.write(&value, sizeof value); };
    file.write(kIdxMagic.data(), kIdxMagic.size());
    put(std::uint64_t{1});
    put(static_cast<std::uint8_t>(IdxDtype::UInt8));
    put(static_cast<std::uint64_t>(lengths_.size()));
    put(static_cast<std::uint64_t>(documentIndices_.size()));
    file.write(lengths_.data(), lengths_.size() * sizeof(std::int32_t));
    file.write(pointers_.data(), pointers_.size() * sizeof(std::int64_t));
    file.write(documentIndices_.data(), documentIndices_.size() * sizeof(std::int64_t));
}

}  // namespace ballast
