// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/sharding/shard.h"

namespace ballast::testing {

/// FlashCP's heuristic (arXiv 2606.08476, Algorithm 1), as a rival for `mixed`: whole documents longest first
/// onto the rank of least pairs; ranks of most and fewest tokens even out; while the imbalance of pairs is
/// over the target, the longest document left is spread over all ranks. The paper does not say how the ranks
/// even out; here the donor gives that head or tail of a shard which leaves the two ranks' pairs closest.
struct FlashCp {
    struct Part {
        std::int64_t length, begin, end;
        double pairs() const { return static_cast<double>(attentionPairs({end - begin, begin})); }
        std::int64_t tokens() const { return end - begin; }
    };
    using Ranks = std::vector<std::vector<Part>>;

    double saving = 0;     ///< its equation 5 over equation 4
    double imbalance = 1;  ///< most pairs of a rank over the mean

    FlashCp(std::vector<std::int64_t> lengths, std::size_t ranks, double target) {
        std::sort(lengths.rbegin(), lengths.rend());
        const auto total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        for (std::size_t spread = 0;; ++spread) {
            std::vector<std::int64_t> whole(lengths.begin() + static_cast<std::ptrdiff_t>(spread),
                                            lengths.end());
            Ranks plan = placed(whole, ranks);
            evenOut(plan);
            double spreadTokens = 0;
            double spreadPairs = 0;
            for (std::size_t i = 0; i < spread; ++i) {
                spreadTokens += static_cast<double>(lengths[i]);
                spreadPairs += Part{lengths[i], 0, lengths[i]}.pairs();
            }
            const auto n = static_cast<double>(ranks);
            double most = 0, sum = 0, sent = 0;
            for (const auto& parts : plan) {
                double pairs = spreadPairs / n;
                double open = spreadTokens / n;
                for (const Part& part : parts) {
                    pairs += part.pairs();
                    open += part.end < part.length ? static_cast<double>(part.tokens()) : 0.0;
                }
                most = std::max(most, pairs);
                sum += pairs;
                sent = std::max(sent, open);
            }
            imbalance = most / (sum / n);
            saving = 1 - sent / (static_cast<double>(total) / n);
            if (imbalance <= target || whole.empty())
                return;
        }
    }

  private:
    static Ranks placed(const std::vector<std::int64_t>& lengths, std::size_t ranks) {
        Ranks plan(ranks);
        std::vector<double> pairs(ranks);
        for (std::int64_t length : lengths) {
            auto least =
                static_cast<std::size_t>(std::min_element(pairs.begin(), pairs.end()) - pairs.begin());
            plan[least].push_back({length, 0, length});
            pairs[least] += plan[least].back().pairs();
        }
        return plan;
    }

    static std::int64_t tokensOf(const std::vector<Part>& parts) {
        std::int64_t tokens = 0;
        for (const Part& part : parts)
            tokens += part.tokens();
        return tokens;
    }
    static double pairsOf(const std::vector<Part>& parts) {
        double pairs = 0;
        for (const Part& part : parts)
            pairs += part.pairs();
        return pairs;
    }

    static void evenOut(Ranks& plan) {
        std::int64_t total = 0;
        for (const auto& parts : plan)
            total += tokensOf(parts);
        const auto share = total / static_cast<std::int64_t>(plan.size());
        while (true) {
            auto byTokens = [](const auto& a, const auto& b) { return tokensOf(a) < tokensOf(b); };
            auto donor = std::max_element(plan.begin(), plan.end(), byTokens);
            auto taker = std::min_element(plan.begin(), plan.end(), byTokens);
            const std::int64_t excess = std::min(tokensOf(*donor) - share, share - tokensOf(*taker));
            if (excess <= 0)
                return;
            move(*donor, *taker, excess);
        }
    }

    static void move(std::vector<Part>& donor, std::vector<Part>& taker, std::int64_t most) {
        const double gap = pairsOf(donor) - pairsOf(taker);
        std::size_t best = 0;
        Part piece{};
        double least = -1;
        for (std::size_t i = 0; i < donor.size(); ++i) {
            const Part& part = donor[i];
            const std::int64_t tokens = std::min(most, part.tokens());
            for (const Part& candidate : {Part{part.length, part.begin, part.begin + tokens},
                                          Part{part.length, part.end - tokens, part.end}}) {
                double left = std::abs(gap - 2 * candidate.pairs());
                if (least < 0 || left < least) {
                    least = left;
                    best = i;
                    piece = candidate;
                }
            }
        }
        Part& from = donor[best];
        if (piece.begin == from.begin)
            from.begin = piece.end;
        else
            from.end = piece.begin;
        if (from.begin == from.end)
            donor.erase(donor.begin() + static_cast<std::ptrdiff_t>(best));
        taker.push_back(piece);
    }
};

}  // namespace ballast::testing
