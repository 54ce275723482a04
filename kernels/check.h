// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>

namespace ballast::kernels {

/// Aborts with file, line and `what` where a caller broke a kernel's contract (a span of the wrong size, a
/// range out of order). It is no error handling: input from outside is checked long before it reaches a
/// kernel.
inline void check(bool holds, const char* what,
                  const std::source_location& where = std::source_location::current()) {
    if (!holds) {
        std::fprintf(stderr, "%s:%u: kernel contract broken: %s\n", where.file_name(),
                     static_cast<unsigned>(where.line()), what);
        std::abort();
    }
}

}  // namespace ballast::kernels
