// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>

#include "core/simulator/simulator.h"

namespace ballast {
namespace {

/// Shares `total` evenly; the first ones take the remainder.
std::vector<std::int64_t> evenShares(std::int64_t total, std::size_t count) {
    auto by = static_cast<std::int64_t>(count);
    std::vector<std::int64_t> shares(count, total / by);
    for (std::int64_t i = 0; i < total % by; ++i)
        ++shares[static_cast<std::size_t>(i)];
    return shares;
}

template <class Value>
void sortDescending(std::vector<Value>& values) {
    std::sort(values.begin(), values.end(), std::greater<>());
}

/// Sums over the micro-batches, the cp ranks of each taken heaviest first.
struct StepTotals {
    explicit StepTotals(std::size_t cp) : rankTokens(cp), forward(cp), backward(cp), pairs(cp) {}

    void add(MicroBatchWork batch) {
        sortDescending(batch.rankTokens);
        sortDescending(batch.attentionForward);
        sortDescending(batch.attentionBackward);
        sortDescending(batch.attentionPairs);
        for (std::size_t cp = 0; cp < rankTokens.size(); ++cp) {
            rankTokens[cp] += batch.rankTokens[cp];
            forward[cp] += batch.attentionForward[cp];
            backward[cp] += batch.attentionBackward[cp];
            pairs[cp] += batch.attentionPairs[cp];
        }
    }

    std::vector<std::int64_t> rankTokens;
    std::vector<Seconds> forward;
    std::vector<Seconds> backward;
    std::vector<double> pairs;
};

void packPerfectly(StepWork& work) {
    std::size_t most = 0;
    std::size_t cp = 0;
    for (const auto& pipeline : work.pipelines) {
        most = std::max(most, pipeline.size());
        if (!pipeline.empty())
            cp = pipeline.front().rankTokens.size();
    }
    if (most == 0)
        return;
    StepTotals totals(cp);
    for (const auto& pipeline : work.pipelines)
        for (const MicroBatchWork& batch : pipeline)
            totals.add(batch);
    std::size_t slots = most * work.pipelines.size();
    double share = 1.0 / static_cast<double>(slots);
    std::vector<MicroBatchWork> equal(slots);
    for (std::size_t rank = 0; rank < cp; ++rank) {
        std::vector<std::int64_t> tokens = evenShares(totals.rankTokens[rank], slots);
        for (std::size_t slot = 0; slot < slots; ++slot) {
            equal[slot].rankTokens.push_back(tokens[slot]);
            equal[slot].tokens += tokens[slot];
            equal[slot].attentionForward.push_back(totals.forward[rank] * share);
            equal[slot].attentionBackward.push_back(totals.backward[rank] * share);
            equal[slot].attentionPairs.push_back(totals.pairs[rank] * share);
        }
    }
    for (std::size_t slot = 0; slot < slots; ++slot)
        equal[slot].index = static_cast<int>(slot % most);
    for (std::size_t dp = 0; dp < work.pipelines.size(); ++dp)
        work.pipelines[dp].assign(equal.begin() + static_cast<std::ptrdiff_t>(dp * most),
                                  equal.begin() + static_cast<std::ptrdiff_t>((dp + 1) * most));
}

template <class Value>
void makeEqual(std::vector<Value>& values) {
    Value mean = std::accumulate(values.begin(), values.end(), Value{}) / static_cast<double>(values.size());
    std::fill(values.begin(), values.end(), mean);
}

void shardPerfectly(StepWork& work) {
    for (auto& pipeline : work.pipelines)
        for (MicroBatchWork& batch : pipeline) {
            std::int64_t tokens =
                std::accumulate(batch.rankTokens.begin(), batch.rankTokens.end(), std::int64_t{0});
            batch.rankTokens = evenShares(tokens, batch.rankTokens.size());
            makeEqual(batch.attentionForward);
            makeEqual(batch.attentionBackward);
            makeEqual(batch.attentionPairs);
        }
}

}  // namespace

StepWork idealised(const StepWork& work, Ideal ideal) {
    StepWork better = work;
    switch (ideal) {
        case Ideal::Packing:
            packPerfectly(better);
            break;
        case Ideal::Sharding:
            shardPerfectly(better);
            break;
        case Ideal::Network:
            better.freeTransfers = true;
            break;
        case Ideal::NoBubble:
            better.messagesAlwaysThere = true;
            break;
    }
    return better;
}

}  // namespace ballast
