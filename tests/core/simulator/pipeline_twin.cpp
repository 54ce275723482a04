// SPDX-License-Identifier: Apache-2.0
#include "tests/core/simulator/pipeline_twin.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ballast::testing {
namespace {

/// Ends of passes by recursion over what they need.
class Twin {
  public:
    explicit Twin(const PlainPipeline& pipeline)
        : pipeline_(pipeline), stages_(pipeline.forward.size()), count_(pipeline.forward.front().size()) {}

    Nanoseconds endOf(std::size_t stage, std::size_t place) {
        if (place == 0)
            return 0;
        auto known = ends_.find({stage, place});
        if (known != ends_.end())
            return known->second;
        auto [microBatch, isForward] = passAt(stage, place - 1);
        Nanoseconds start = endOf(stage, place - 1);
        if (isForward && stage > 0)
            start = std::max(start, endOfPass(stage - 1, microBatch, true) + pipeline_.message);
        if (!isForward && stage + 1 < stages_)
            start = std::max(start, endOfPass(stage + 1, microBatch, false) + pipeline_.message);
        Nanoseconds end = start + (isForward ? pipeline_.forward : pipeline_.backward)[stage][microBatch];
        ends_[{stage, place}] = end;
        return end;
    }

    std::size_t passes() const { return 2 * count_; }

  private:
    /// The pass at a place of a stage's order: micro-batch, and whether it is the forward.
    std::pair<std::size_t, bool> passAt(std::size_t stage, std::size_t place) const {
        std::size_t warmup = std::min(count_, stages_ - 1 - stage);
        if (place < warmup)
            return {place, true};
        std::size_t steady = place - warmup;
        if (steady < 2 * (count_ - warmup))
            return {steady % 2 == 0 ? warmup + steady / 2 : steady / 2, steady % 2 == 0};
        return {place - count_, false};
    }

    Nanoseconds endOfPass(std::size_t stage, std::size_t microBatch, bool isForward) {
        std::size_t place = 0;
        while (passAt(stage, place) != std::pair(microBatch, isForward))
            ++place;
        return endOf(stage, place + 1);
    }

    const PlainPipeline& pipeline_;
    std::size_t stages_;
    std::size_t count_;
    std::map<std::pair<std::size_t, std::size_t>, Nanoseconds> ends_;
};

}  // namespace

std::vector<Nanoseconds> plain1F1B(const PlainPipeline& pipeline) {
    Twin twin(pipeline);
    std::vector<Nanoseconds> ends;
    for (std::size_t stage = 0; stage < pipeline.forward.size(); ++stage)
        ends.push_back(twin.endOf(stage, twin.passes()));
    return ends;
}

}  // namespace ballast::testing
