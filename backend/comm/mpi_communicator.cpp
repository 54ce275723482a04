// SPDX-License-Identifier: Apache-2.0
#include "backend/comm/mpi_communicator.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace ballast::backend {

namespace {

void checkMpi(int result, const char* what) {
    if (result == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw Error(fmt::format("MPI failed in {}: {}", what, text), ErrorCode::WorkFailed);
}

/// Ranks may be many more than cores: a waiting rank first offers its core to others, then sleeps, longer the
/// longer it has waited, so that the ranks that compute get the cores.
class IdleWait {
  public:
    void pause() {
        if (++rounds_ <= kYields) {
            sched_yield();
            return;
        }
        std::this_thread::sleep_for(sleep_);
        sleep_ = std::min(sleep_ * 5 / 4, kLongestSleep);
    }

  private:
    static constexpr int kYields = 8;
    static constexpr std::chrono::nanoseconds kLongestSleep{100'000};
    int rounds_ = 0;
    std::chrono::nanoseconds sleep_{20'000};
};

class MpiTransfer final : public Transfer {
  public:
    explicit MpiTransfer(std::vector<MPI_Request> requests) : requests_(std::move(requests)) {}

    bool done() override {
        int finished = 0;
        checkMpi(
            MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &finished, MPI_STATUSES_IGNORE),
            "a transfer");
        return finished != 0;
    }

    void wait() override {
        IdleWait idle;
        while (!done())
            idle.pause();
    }

  private:
    std::vector<MPI_Request> requests_;
};

class MpiTransport final : public Transport {
  public:
    MpiTransport(MPI_Comm communicator, std::int64_t largestMessage)
        : communicator_(communicator), largestMessage_(static_cast<std::size_t>(largestMessage)) {
        MPI_Comm_rank(communicator_, &rank_);
        MPI_Comm_size(communicator_, &size_);
        int* bound = nullptr;
        int found = 0;
        MPI_Comm_get_attr(communicator_, MPI_TAG_UB, &bound, &found);
        tagLimit_ = found != 0 ? std::min(*bound, 1 << 24) : 32767;
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int tagLimit() const override { return tagLimit_; }

    std::unique_ptr<Transfer> startSend(int to, int tag, std::span<const std::byte> bytes) override {
        std::vector<MPI_Request> requests;
        for (std::size_t at = 0; at < bytes.size(); at += largestMessage_) {
            auto part = bytes.subspan(at, std::min(largestMessage_, bytes.size() - at));
            MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
            checkMpi(MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, tag, communicator_,
                               &request),
                     "a send");
        }
        return std::make_unique<MpiTransfer>(std::move(requests));
    }

    std::unique_ptr<Transfer> startReceive(int from, int tag, std::span<std::byte> bytes) override {
        std::vector<MPI_Request> requests;
        for (std::size_t at = 0; at < bytes.size(); at += largestMessage_) {
            auto part = bytes.subspan(at, std::min(largestMessage_, bytes.size() - at));
            MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
            checkMpi(MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, tag, communicator_,
                               &request),
                     "a receive");
        }
        return std::make_unique<MpiTransfer>(std::move(requests));
    }

  private:
    MPI_Comm communicator_;
    std::size_t largestMessage_;
    int rank_ = 0;
    int size_ = 1;
    int tagLimit_ = 32767;
};

}  // namespace

MpiWorld::MpiWorld(int& argumentCount, char**& arguments, std::int64_t largestMessage) {
    checkMpi(MPI_Init(&argumentCount, &arguments), "MPI_Init");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    // The kernel otherwise stretches each short sleep of a waiting rank by 50 microseconds.
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    transport_ = std::make_unique<MpiTransport>(MPI_COMM_WORLD, largestMessage);
}

MpiWorld::~MpiWorld() {
    MPI_Finalize();
}

void MpiWorld::abort(int exitCode) {
    MPI_Abort(MPI_COMM_WORLD, exitCode);
    std::abort();
}

}  // namespace ballast::backend
