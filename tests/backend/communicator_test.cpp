// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "backend/comm/agreement.h"
#include "backend/comm/loopback_communicator.h"
#include "backend/comm/pairwise_communicator.h"
#include "backend/comm/process_groups.h"
#include "core/base/error.h"
#include "tests/backend/communicator_cases.h"

namespace ballast::backend::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PairwiseCommunicator worldOf(Transport& transport) {
    std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return PairwiseCommunicator(transport, ranks);
}

TEST(LoopbackCommunicator, CollectivesGiveTheExactSumsForAnyNumberOfRanks) {
    for (int ranks : {1, 2, 3, 5, 8})
        runLoopback(ranks, checkCollectives);
}

TEST(LoopbackCommunicator, OffsetsAndSumsOfSquaresKeepAllTheirBits) {
    runLoopback(4, checkLargeIntegers);
}

// NVIDIA/Megatron-LM issue 5100: two stages, shape messages of both directions swapped.
TEST(LoopbackCommunicator, MessagesOfBothDirectionsAndAllMicroBatchesStayApart) {
    runLoopback(2, checkMessages);
}

TEST(LoopbackCommunicator, MessageOfAnotherLengthIsRefusedNamingBothSides) {
    try {
        runLoopback(2, [](Transport& transport) {
            PairwiseCommunicator world = worldOf(transport);
            std::vector<float> numbers(world.rank() == 0 ? 4096 : 2048);
            if (world.rank() == 0)
                world.send({1, {0, 2, Direction::Forward, 0}, 0, numbers, nullptr});
            else
                world.receive(0, {0, 2, Direction::Forward, 0}, numbers);
        });
        FAIL() << "a message of 4096 numbers was taken for 2048";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("rank 1 expected from rank 0"));
        EXPECT_THAT(error.what(), HasSubstr("2048"));
        EXPECT_THAT(error.what(), HasSubstr("4096"));
    }
}

TEST(LoopbackCommunicator, FailedRankWakesTheOnesThatWaitForIt) {
    EXPECT_THROW(runLoopback(3,
                             [](Transport& transport) {
                                 if (transport.rank() == 1)
                                     throw Error("no more");
                                 worldOf(transport).barrier();
                             }),
                 Error);
}

TEST(ProcessGroups, FollowMegatronsOrderOfRanks) {
    const Layout layout{2, 2, 2, 2};
    runLoopback(16, [&](Transport& transport) {
        ProcessGroups groups(transport, layout);
        if (transport.rank() != 5)  // tp 1, cp 0, dp 1, pp 0
            return;
        auto members = [&](GroupAxis axis) {
            auto span = groups.along(axis).members();
            return std::vector<int>(span.begin(), span.end());
        };
        EXPECT_THAT(members(GroupAxis::Tensor), ElementsAre(4, 5));
        EXPECT_THAT(members(GroupAxis::Context), ElementsAre(5, 7));
        EXPECT_THAT(members(GroupAxis::DataAndContext), ElementsAre(1, 3, 5, 7));
        EXPECT_THAT(members(GroupAxis::EmbeddingPair), ElementsAre(5, 13));
        EXPECT_EQ(members(GroupAxis::World).size(), 16U);
        EXPECT_EQ(groups.previousStage(), std::nullopt);
        EXPECT_EQ(groups.nextStage(), 13);
    });
}

TEST(Agreement, EveryRankGetsTheSameSentenceOfTheLowestRankThatFailed) {
    std::vector<std::string> sentences(4);
    runLoopback(4, [&](Transport& transport) {
        PairwiseCommunicator world = worldOf(transport);
        try {
            agree(world, [&]() -> Standing {
                if (transport.rank() == 1)
                    throw Error("plan, line 7: not a step");
                if (transport.rank() == 3)
                    throw Error("disk full", ErrorCode::WorkFailed);
                return {};
            });
        } catch (const AgreedError& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
            sentences[static_cast<std::size_t>(transport.rank())] = error.what();
        }
    });
    for (const std::string& sentence : sentences)
        EXPECT_EQ(sentence, "rank 1: plan, line 7: not a step");
}

TEST(Agreement, OneRankThatWantsToStopStopsAll) {
    runLoopback(3, [](Transport& transport) {
        PairwiseCommunicator world = worldOf(transport);
        const Standing standing = agree(world, [&] { return Standing{transport.rank() == 2, true}; });
        EXPECT_TRUE(standing.wantsStop);
        EXPECT_TRUE(standing.hasWork);
    });
}

TEST(Agreement, RanksThatReadDifferentPlansAreAnError) {
    EXPECT_THROW(runLoopback(2,
                             [](Transport& transport) {
                                 PairwiseCommunicator world = worldOf(transport);
                                 agree(world, [&] { return Standing{false, transport.rank() == 0}; });
                             }),
                 AgreedError);
}

}  // namespace
}  // namespace ballast::backend::testing
