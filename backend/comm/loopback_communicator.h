// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backend/comm/transport.h"

namespace ballast::backend {

/// Ranks as threads of one process: the trainer without MPI, for tests and for a single rank. Each rank's
/// transport belongs to its thread; the world may outlive or not outlive them, but not while they talk.
class LoopbackWorld {
  public:
    explicit LoopbackWorld(int ranks);
    ~LoopbackWorld();
    LoopbackWorld(const LoopbackWorld&) = delete;
    LoopbackWorld& operator=(const LoopbackWorld&) = delete;

    Transport& transport(int rank);
    /// Wakes every waiting rank with an Error that carries `sentence`, so that one failed thread leaves no
    /// other one hanging.
    void fail(const std::string& sentence);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Runs `work` on `ranks` threads, each with its own transport, and throws the first failure once all have
/// ended.
void runLoopback(int ranks, const std::function<void(Transport&)>& work);

}  // namespace ballast::backend
