// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace ballast {
namespace {

/// Open file description locks: unlike flock(2) they can be asked about without being taken, and unlike
/// fcntl's older ones they don't vanish when another descriptor of the file is closed.
struct flock wholeFile() {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

std::optional<RunLock> RunLock::take(const std::filesystem::path& lockFile) {
    const int descriptor = ::open(lockFile.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0)
        throw Error(fmt::format("{}: cannot be opened: {}", lockFile.string(), std::strerror(errno)),
                    ErrorCode::WorkFailed);
    struct flock lock = wholeFile();
    if (::fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
        const int reason = errno;
        ::close(descriptor);
        if (reason == EAGAIN || reason == EACCES)
            return std::nullopt;
        throw Error(fmt::format("{}: cannot be locked: {}", lockFile.string(), std::strerror(reason)),
                    ErrorCode::WorkFailed);
    }
    return RunLock(descriptor);
}

bool RunLock::isHeld(const std::filesystem::path& lockFile) {
    const int descriptor = ::open(lockFile.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    struct flock lock = wholeFile();
    const bool asked = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0;
    ::close(descriptor);
    return asked && lock.l_type != F_UNLCK;
}

RunLock::~RunLock() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace ballast
