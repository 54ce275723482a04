// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace ballast {

/// The lock file of a run directory: whoever holds it is the one writer of the run's rows. The kernel lets go
/// of it when its holder dies, however it dies. Not inherited by programs that the holder starts.
class RunLock {
  public:
    /// Nothing when another program holds it. Throws Error (WorkFailed) with the path when the file cannot be
    /// opened.
    static std::optional<RunLock> take(const std::filesystem::path& lockFile);
    /// Asks without taking it. False for a file that is not there.
    static bool isHeld(const std::filesystem::path& lockFile);

    ~RunLock();
    RunLock(RunLock&& other) noexcept;
    RunLock& operator=(RunLock&&) = delete;

  private:
    explicit RunLock(int descriptor) : descriptor_(descriptor) {}

    int descriptor_;
};

}  // namespace ballast
