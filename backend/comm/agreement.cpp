// SPDX-License-Identifier: Apache-2.0
#include "backend/comm/agreement.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "core/base/error.h"

namespace ballast::backend {

namespace {

/// Every rank gets the bytes of rank `from`.
std::string broadcast(Communicator& world, int from, const std::string& text) {
    std::int64_t length = world.rank() == from ? static_cast<std::int64_t>(text.size()) : 0;
    world.allReduce(std::span(&length, 1), Reduction::Maximum);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(world.size()), 0);
    counts[static_cast<std::size_t>(from)] = length;
    std::string all(static_cast<std::size_t>(length), ' ');
    std::span<const std::byte> mine;
    if (world.rank() == from)
        mine = std::as_bytes(std::span(text));
    world.allGather(mine, counts, std::as_writable_bytes(std::span(all)));
    return all;
}

}  // namespace

Standing agree(Communicator& world, const std::function<Standing()>& work) {
    Standing standing;
    std::optional<Error> failure;
    try {
        standing = work();
    } catch (const Error& error) {
        failure = error;
    } catch (const std::exception& error) {
        failure = Error(error.what(), ErrorCode::WorkFailed);
    }
    // Lowest failed rank as a maximum; then stop, work and its absence.
    std::array<std::int64_t, 4> facts{failure ? world.size() - world.rank() : 0, standing.wantsStop,
                                      standing.hasWork && !failure, !standing.hasWork && !failure};
    world.allReduce(std::span(facts), Reduction::Maximum);
    if (facts[0] != 0) {
        int failed = world.size() - static_cast<int>(facts[0]);
        std::int64_t code = failure ? static_cast<std::int64_t>(failure->code()) : 0;
        if (world.rank() != failed)
            code = 0;
        world.allReduce(std::span(&code, 1), Reduction::Maximum);
        std::string sentence = broadcast(world, failed, failure ? failure->what() : "");
        int blamed = world.members()[static_cast<std::size_t>(failed)];
        throw AgreedError(fmt::format("rank {}: {}", blamed, sentence), static_cast<ErrorCode>(code));
    }
    if (facts[2] != 0 && facts[3] != 0)
        throw AgreedError("the ranks read different plans: one has another step, one has none",
                          ErrorCode::WorkFailed);
    return {facts[1] != 0, facts[2] != 0};
}

}  // namespace ballast::backend
