// SPDX-License-Identifier: Apache-2.0
#include "backend/comm/process_groups.h"

#include <fmt/format.h>

#include "backend/comm/pairwise_communicator.h"
#include "backend/trainer/planted_fault.h"
#include "core/base/error.h"

namespace ballast::backend {

namespace {

std::vector<int> gradientRanks(const Layout& layout, int rank) {
    std::vector<int> ranks = groupRanks(layout, GroupAxis::DataAndContext, rank);
    if (planted(PlantedFault::GradientsOverDataOnly))
        std::erase_if(
            ranks, [&](int other) { return layout.coordinateOf(other).cp != layout.coordinateOf(rank).cp; });
    return ranks;
}

}  // namespace

ProcessGroups::ProcessGroups(Transport& transport, const Layout& layout)
    : layout_(layout), rank_(transport.rank()), coordinate_(layout.coordinateOf(transport.rank())) {
    if (layout.worldSize() != transport.size())
        throw Error(fmt::format("layout tp {}, cp {}, dp {}, pp {} needs {} ranks, {} were started",
                                layout.tp, layout.cp, layout.dp, layout.pp, layout.worldSize(),
                                transport.size()));
    auto group = [&](std::vector<int> ranks) {
        return std::make_unique<PairwiseCommunicator>(transport, std::move(ranks));
    };
    tensor_ = group(groupRanks(layout, GroupAxis::Tensor, rank_));
    context_ = group(groupRanks(layout, GroupAxis::Context, rank_));
    dataAndContext_ = group(gradientRanks(layout, rank_));
    embeddingPair_ = group(groupRanks(layout, GroupAxis::EmbeddingPair, rank_));
    world_ = group(groupRanks(layout, GroupAxis::World, rank_));
}

Communicator& ProcessGroups::along(GroupAxis axis) {
    switch (axis) {
        case GroupAxis::Tensor:
            return *tensor_;
        case GroupAxis::Context:
            return *context_;
        case GroupAxis::DataAndContext:
            return *dataAndContext_;
        case GroupAxis::EmbeddingPair:
            return *embeddingPair_;
        case GroupAxis::World:
            break;
    }
    return *world_;
}

std::optional<int> ProcessGroups::stage(int pp) const {
    if (pp < 0 || pp >= layout_.pp)
        return std::nullopt;
    Coordinate there = coordinate_;
    there.pp = pp;
    return layout_.rankOf(there);
}

std::optional<int> ProcessGroups::previousStage() const {
    return stage(coordinate_.pp - 1);
}

std::optional<int> ProcessGroups::nextStage() const {
    return stage(coordinate_.pp + 1);
}

}  // namespace ballast::backend
