// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace ballast {

/// How long something has lasted: since it was first asked about, until reset.
class WaitingTime {
  public:
    std::chrono::steady_clock::duration elapsed() {
        const auto now = std::chrono::steady_clock::now();
        if (!running_)
            begin_ = now;
        running_ = true;
        return now - begin_;
    }
    void reset() { running_ = false; }

  private:
    bool running_ = false;
    std::chrono::steady_clock::time_point begin_{};
};

}  // namespace ballast
