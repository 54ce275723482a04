// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace ballast::cli {

/// How far a command is, on stderr and only where that is a terminal; drawn at most ten times a second and
/// gone with its object.
class ProgressBar {
  public:
    /// `total` absent: a count without an end.
    ProgressBar(std::string label, std::optional<std::int64_t> total);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(std::int64_t done);

  private:
    std::string label_;
    std::optional<std::int64_t> total_;
    bool onTerminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point next_{};
};

}  // namespace ballast::cli
