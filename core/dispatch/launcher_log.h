// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ballast {

/// What mpirun and the ranks printed: logs/launcher.log, lines tagged "[1,RANK]<stdout>:" by mpirun.
class LauncherLog {
  public:
    explicit LauncherLog(std::filesystem::path file) : file_(std::move(file)) {}

    /// The last `count` lines of a rank, without their tags; of mpirun itself for rank -1.
    std::vector<std::string> lastLines(int rank, std::size_t count) const;
    /// The rank that mpirun names as the one that ended the job, from its closing message.
    std::optional<int> rankThatEndedTheJob() const;

  private:
    std::vector<std::string> tail() const;

    std::filesystem::path file_;
};

}  // namespace ballast
