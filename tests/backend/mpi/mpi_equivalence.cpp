// SPDX-License-Identifier: Apache-2.0
// The same training over MPI and over threads, bit for bit: mpirun -n N mpi_equivalence, N of 1, 2, 4, 8.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "backend/comm/mpi_communicator.h"
#include "backend/comm/pairwise_communicator.h"
#include "tests/backend/communicator_cases.h"
#include "tests/backend/training_case.h"

namespace ballast::backend::testing {
namespace {

/// Small, so that every tensor travels in many messages.
constexpr std::int64_t kLargestMessage = 1000;

std::vector<Layout> layoutsOf(int ranks) {
    switch (ranks) {
        case 1:
            return {{1, 1, 1, 1}};
        case 2:
            return {{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}};
        case 4:
            return {{2, 2, 1, 1}, {1, 2, 1, 2}, {1, 4, 1, 1}, {1, 1, 1, 4}};
        case 8:
            return {{2, 2, 1, 2}, {1, 2, 2, 2}};
        default:
            throw std::runtime_error(fmt::format("no layouts for {} ranks", ranks));
    }
}

void requireSameBits(const TrainingResult& mpi, const TrainingResult& loopback, const Layout& layout) {
    const std::string name =
        fmt::format("tp {} cp {} dp {} pp {}", layout.tp, layout.cp, layout.dp, layout.pp);
    for (std::size_t step = 0; step < loopback.reports.size(); ++step) {
        if (mpi.reports[step].lossSum != loopback.reports[step].lossSum)
            throw std::runtime_error(
                fmt::format("{}, step {}: loss sum {:.17g} over MPI, {:.17g} over threads", name, step,
                            mpi.reports[step].lossSum, loopback.reports[step].lossSum));
        if (mpi.gradients[step] != loopback.gradients[step])
            throw std::runtime_error(fmt::format("{}, step {}: gradients differ", name, step));
    }
    if (mpi.finalWeights != loopback.finalWeights)
        throw std::runtime_error(name + ": final weights differ");
}

void run(Transport& transport) {
    checkCollectives(transport);
    checkLargeIntegers(transport);
    checkMessages(transport);
    for (const Layout& layout : layoutsOf(transport.size()))
        for (const char* exchange : {"all-gather", "need-based"}) {
            if (layout.cp == 1 && exchange == std::string_view("need-based"))
                continue;
            TrainingCase trainingCase = smallCase(layout, 3);
            trainingCase.exchange = exchange;
            trainingCase.model.tiedEmbeddings = layout.pp > 1;
            const TrainingResult mpi = trainRank(trainingCase, transport);
            if (transport.rank() == 0)
                requireSameBits(mpi, train(trainingCase), layout);
        }
    std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    PairwiseCommunicator(transport, ranks).barrier();
}

}  // namespace
}  // namespace ballast::backend::testing

int main(int argumentCount, char** arguments) {
    ballast::backend::MpiWorld mpi(argumentCount, arguments, ballast::backend::testing::kLargestMessage);
    try {
        ballast::backend::testing::run(mpi.transport());
    } catch (const std::exception& error) {
        fmt::print(stderr, "rank {}: {}\n", mpi.transport().rank(), error.what());
        std::fflush(stderr);
        ballast::backend::MpiWorld::abort(1);
    }
    return 0;
}
