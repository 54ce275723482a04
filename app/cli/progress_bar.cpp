// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "app/cli/readable.h"

namespace ballast::cli {

ProgressBar::ProgressBar(std::string label, std::optional<std::int64_t> total)
    : label_(std::move(label)), total_(total), onTerminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
    if (drawn_)
        fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(std::int64_t done) {
    constexpr int kWidth = 30;
    constexpr std::chrono::milliseconds kPause(100);
    if (!onTerminal_ || std::chrono::steady_clock::now() < next_)
        return;
    next_ = std::chrono::steady_clock::now() + kPause;
    drawn_ = true;
    if (!total_ || *total_ <= 0) {
        fmt::print(stderr, "\r\033[K{} {}", label_, grouped(done));
        return;
    }
    const double share = std::min(static_cast<double>(done) / static_cast<double>(*total_), 1.0);
    const auto filled = static_cast<std::size_t>(share * kWidth);
    fmt::print(stderr, "\r\033[K{} [{:<{}}] {:3.0f} %", label_, std::string(filled, '#'), kWidth,
               100 * share);
}

}  // namespace ballast::cli
