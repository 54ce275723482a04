// SPDX-License-Identifier: Apache-2.0
#include "backend/comm/loopback_communicator.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast::backend {

namespace {

/// Messages on their way to one rank, by sender and tag.
struct Mailbox {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;
    std::optional<std::string> failure;
};

class Sent final : public Transfer {
  public:
    bool done() override { return true; }
    void wait() override {}
};

class Receiving final : public Transfer {
  public:
    Receiving(Mailbox& mailbox, std::pair<int, int> key, std::span<std::byte> bytes)
        : mailbox_(&mailbox), key_(key), bytes_(bytes) {}

    bool done() override {
        std::unique_lock lock(mailbox_->mutex);
        return done_ || take();
    }

    void wait() override {
        std::unique_lock lock(mailbox_->mutex);
        while (!done_ && !take()) {
            if (mailbox_->failure)
                throw Error(*mailbox_->failure, ErrorCode::WorkFailed);
            mailbox_->arrived.wait(lock);
        }
    }

  private:
    bool take() {
        auto& queue = mailbox_->messages[key_];
        if (queue.empty())
            return false;
        BALLAST_CHECK(queue.front().size() == bytes_.size());
        std::memcpy(bytes_.data(), queue.front().data(), bytes_.size());
        queue.pop_front();
        return done_ = true;
    }

    Mailbox* mailbox_;
    std::pair<int, int> key_;
    std::span<std::byte> bytes_;
    bool done_ = false;
};

class LoopbackTransport final : public Transport {
  public:
    LoopbackTransport(std::vector<std::unique_ptr<Mailbox>>& mailboxes, int rank)
        : mailboxes_(&mailboxes), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(mailboxes_->size()); }
    int tagLimit() const override { return 1 << 30; }

    std::unique_ptr<Transfer> startSend(int to, int tag, std::span<const std::byte> bytes) override {
        Mailbox& mailbox = *(*mailboxes_)[static_cast<std::size_t>(to)];
        std::vector<std::byte> copy(bytes.begin(), bytes.end());
        {
            std::lock_guard lock(mailbox.mutex);
            mailbox.messages[{rank_, tag}].push_back(std::move(copy));
        }
        mailbox.arrived.notify_one();
        return std::make_unique<Sent>();
    }

    std::unique_ptr<Transfer> startReceive(int from, int tag, std::span<std::byte> bytes) override {
        return std::make_unique<Receiving>(*(*mailboxes_)[static_cast<std::size_t>(rank_)],
                                           std::pair(from, tag), bytes);
    }

  private:
    std::vector<std::unique_ptr<Mailbox>>* mailboxes_;
    int rank_;
};

}  // namespace

struct LoopbackWorld::State {
    std::vector<std::unique_ptr<Mailbox>> mailboxes;
    std::vector<std::unique_ptr<LoopbackTransport>> transports;
};

LoopbackWorld::LoopbackWorld(int ranks) : state_(std::make_unique<State>()) {
    for (int rank = 0; rank < ranks; ++rank) {
        state_->mailboxes.push_back(std::make_unique<Mailbox>());
        state_->transports.push_back(std::make_unique<LoopbackTransport>(state_->mailboxes, rank));
    }
}

LoopbackWorld::~LoopbackWorld() = default;

Transport& LoopbackWorld::transport(int rank) {
    return *state_->transports[static_cast<std::size_t>(rank)];
}

void LoopbackWorld::fail(const std::string& sentence) {
    for (auto& mailbox : state_->mailboxes) {
        {
            std::lock_guard lock(mailbox->mutex);
            if (!mailbox->failure)
                mailbox->failure = sentence;
        }
        mailbox->arrived.notify_one();
    }
}

void runLoopback(int ranks, const std::function<void(Transport&)>& work) {
    LoopbackWorld world(ranks);
    std::mutex mutex;
    std::exception_ptr first;
    auto body = [&](int rank) {
        try {
            work(world.transport(rank));
        } catch (const std::exception& error) {
            {
                std::lock_guard lock(mutex);
                if (!first)
                    first = std::current_exception();
            }
            world.fail(error.what());
        }
    };
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back(body, rank);
    threads.clear();
    if (first)
        std::rethrow_exception(first);
}

}  // namespace ballast::backend
