// SPDX-License-Identifier: Apache-2.0
#include "core/workload/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace ballast {

namespace {

[[noreturn]] void failOn(const std::filesystem::path& file, std::string_view action) {
    throw Error(fmt::format("{}: cannot {}: {}", file.string(), action, std::strerror(errno)));
}

}  // namespace

std::int64_t regularFileSize(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        failOn(file, "open");
    if (!S_ISREG(status.st_mode))
        throw Error(fmt::format("{}: expected a regular file", file.string()));
    return status.st_size;
}

MappedFile::MappedFile(const std::filesystem::path& file) {
    size_ = static_cast<std::size_t>(regularFileSize(file));
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        failOn(file, "open");
    try {
        map(descriptor, file);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    ::close(descriptor);
}

MappedFile::MappedFile(int descriptor, const std::filesystem::path& name) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0)
        failOn(name, "read");
    size_ = static_cast<std::size_t>(status.st_size);
    map(descriptor, name);
}

void MappedFile::map(int descriptor, const std::filesystem::path& name) {
    if (size_ == 0)
        return;
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED)
        failOn(name, "map");
    data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
    if (data_)
        ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace ballast
