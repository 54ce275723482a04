// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "backend/comm/communicator.h"
#include "core/base/error.h"

namespace ballast::backend {

/// What a rank brings to an agreement beside its work's failure.
struct Standing {
    bool wantsStop = false;
    bool hasWork = true;  ///< another step to run
};

/// A failure that every rank knows of and throws alike, so that all can end in order.
class AgreedError : public Error {
  public:
    using Error::Error;
};

/// Runs `work` on every rank and then lets all know how it went on all: when it threw on any, every rank
/// throws the same AgreedError, "rank 3: <sentence>" of the lowest rank that failed, so that none is left
/// waiting for one that gave up. Otherwise the result is the same on all: stop when any wants it, work only
/// when all have some (Error when they differ: the ranks would not have read the same plan).
Standing agree(Communicator& world, const std::function<Standing()>& work);

}  // namespace ballast::backend
