// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backend/comm/transport.h"

namespace ballast::backend {

/// The MPI library from start to end of a process, and its ranks as a transport. One a process.
class MpiWorld {
  public:
    /// A larger message goes as several, because MPI counts with an int.
    static constexpr std::int64_t kLargestMessage = std::int64_t{1} << 30;

    MpiWorld(int& argumentCount, char**& arguments, std::int64_t largestMessage = kLargestMessage);
    /// Ends MPI; every rank gets here (after a failure on one rank use `abort`).
    ~MpiWorld();
    MpiWorld(const MpiWorld&) = delete;
    MpiWorld& operator=(const MpiWorld&) = delete;

    Transport& transport() { return *transport_; }

    /// Ends all ranks at once; for failures that cannot wait for the next agreement.
    [[noreturn]] static void abort(int exitCode);

  private:
    std::unique_ptr<Transport> transport_;
};

}  // namespace ballast::backend
