// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ballast::kernels {

/// Aborts with file, line and `what` where a caller broke a kernel's contract (a span of the wrong size, a
/// range out of order). It is no error handling: input from outside is checked long before it reaches a
/// kernel.
inline void check(bool holds, const char* what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    if (!holds) {
        std::fprintf(stderr, "%s:%d: kernel contract broken: %s\n", file, line, what);
        std::abort();
    }
}

}  // namespace ballast::kernels
