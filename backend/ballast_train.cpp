// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "backend/comm/agreement.h"
#include "backend/comm/mpi_communicator.h"
#include "backend/trainer/training_run.h"
#include "core/dispatch/run_directory.h"

namespace {

/// The rank's last word for the runner; where even that cannot be written, standard error has to do.
void reportFailure(const std::string& directory, int rank, const std::string& sentence) {
    fmt::print(stderr, "ballast-train: {}\n", sentence);
    try {
        ballast::RunDirectory(directory).writeRankEnd(rank, false, sentence);
    } catch (const std::exception& error) {
        fmt::print(stderr, "ballast-train: {}\n", error.what());
    }
    std::fflush(stderr);
}

}  // namespace

int main(int argumentCount, char** arguments) {
    if (argumentCount != 3 || std::string_view(arguments[1]) != "--run-directory") {
        fmt::print(stderr, "usage: ballast-train --run-directory DIR   (started by 'ballast run')\n");
        return 2;
    }
    // A killed launcher must leave no rank behind that waits for its messages.
    prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(SIGKILL), 0UL, 0UL, 0UL);
    const std::string directory = arguments[2];
    ballast::backend::MpiWorld mpi(argumentCount, arguments);
    const int rank = mpi.transport().rank();
    try {
        ballast::backend::runTraining(directory, mpi.transport());
        return 0;
    } catch (const ballast::backend::AgreedError& error) {
        reportFailure(directory, rank, error.what());
        return 1;
    } catch (const std::exception& error) {
        // The others are inside the step and would wait for this rank for ever.
        reportFailure(directory, rank, fmt::format("rank {}: {}", rank, error.what()));
        ballast::backend::MpiWorld::abort(1);
    }
}
