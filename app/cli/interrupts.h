// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ballast::cli {

/// Takes Ctrl+C, a closed terminal and a request to end as wishes that a command looks at, instead of dying
/// of them. One object at a time.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    /// How often Ctrl+C came.
    int count() const;
    /// The terminal was closed, or the program was asked to end.
    bool shouldLeave() const;
};

}  // namespace ballast::cli
