// SPDX-License-Identifier: Apache-2.0
#include "core/schedule/pipeline_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast {

std::string_view actionKindName(ActionKind kind) {
    switch (kind) {
        case ActionKind::ReceiveActivation:
            return "receive activation";
        case ActionKind::Forward:
            return "forward";
        case ActionKind::SendActivation:
            return "send activation";
        case ActionKind::ReceiveGradient:
            return "receive gradient";
        case ActionKind::Backward:
            return "backward";
        case ActionKind::SendGradient:
            return "send gradient";
    }
    return "unknown action";
}

std::vector<ActionList> pipelineActions(std::string_view kind, int stages,
                                        std::span<const int> microBatches) {
    if (kind != "1f1b")
        throw Error(fmt::format("schedule.kind={} is not built yet; use 1f1b", kind));
    BALLAST_CHECK(stages >= 1);
    std::vector<ActionList> lists(static_cast<std::size_t>(stages));
    std::size_t count = microBatches.size();
    for (int stage = 0; stage < stages; ++stage) {
        ActionList& list = lists[static_cast<std::size_t>(stage)];
        bool first = stage == 0;
        bool last = stage == stages - 1;
        auto forward = [&](int microBatch) {
            if (!first)
                list.push_back({ActionKind::ReceiveActivation, microBatch});
            list.push_back({ActionKind::Forward, microBatch});
            if (!last)
                list.push_back({ActionKind::SendActivation, microBatch});
        };
        auto backward = [&](int microBatch) {
            if (!last)
                list.push_back({ActionKind::ReceiveGradient, microBatch});
            list.push_back({ActionKind::Backward, microBatch});
            if (!first)
                list.push_back({ActionKind::SendGradient, microBatch});
        };
        std::size_t warmup = std::min(count, static_cast<std::size_t>(stages - stage - 1));
        for (std::size_t i = 0; i < warmup; ++i)
            forward(microBatches[i]);
        for (std::size_t i = warmup; i < count; ++i) {
            forward(microBatches[i]);
            backward(microBatches[i - warmup]);
        }
        for (std::size_t i = count - warmup; i < count; ++i)
            backward(microBatches[i]);
    }
    return lists;
}

namespace {

/// Plays the lists of all stages against FIFO channels between neighbours.
class SchedulePlay {
  public:
    SchedulePlay(std::span<const ActionList> stages, std::span<const int> microBatches) : stages_(stages) {
        std::size_t count = stages.size();
        position_.resize(count);
        inFlight_.resize(count);
        activations_.resize(count);
        gradients_.resize(count);
        passes_.resize(count);
        for (auto& passes : passes_)
            for (int microBatch : microBatches)
                passes[microBatch] = Passes::None;
    }

    void run() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < stages_.size(); ++stage)
                while (position_[stage] < stages_[stage].size() && step(stage)) {
                    ++position_[stage];
                    moved = true;
                }
        }
        for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
            if (position_[stage] < stages_[stage].size())
                fail(stage, "waits for a message that is never sent before it");
            for (const auto& [microBatch, passes] : passes_[stage])
                if (passes != Passes::Both)
                    throw Error(fmt::format(
                        "schedule: stage {} leaves micro-batch {} without its forward and backward", stage,
                        microBatch));
            if (!activations_[stage].empty() || !gradients_[stage].empty())
                throw Error(
                    fmt::format("schedule: stage {} is sent a message that it never receives", stage));
        }
    }

  private:
    enum class Passes { None, Forward, Both };

    [[noreturn]] void fail(std::size_t stage, std::string_view why) const {
        const Action& action = stages_[stage][position_[stage]];
        throw Error(fmt::format("schedule: stage {}, action {} ({} of micro-batch {}) {}", stage,
                                position_[stage], actionKindName(action.kind), action.microBatch, why));
    }

    Passes& passesOf(std::size_t stage, int microBatch) {
        auto found = passes_[stage].find(microBatch);
        if (found == passes_[stage].end())
            fail(stage, "names a micro-batch that is not in the step");
        return found->second;
    }

    bool receive(std::size_t stage, std::deque<int>& channel, int microBatch, bool hasNeighbour) {
        if (!hasNeighbour)
            fail(stage, "has no neighbour on that side");
        if (channel.empty())
            return false;
        if (channel.front() != microBatch)
            fail(stage, fmt::format("finds the message of micro-batch {} first", channel.front()));
        channel.pop_front();
        received_ = {stage, microBatch};
        return true;
    }

    /// Performs the stage's next action, or returns false when it has to wait.
    bool step(std::size_t stage) {
        Action action = stages_[stage][position_[stage]];
        bool first = stage == 0;
        bool last = stage + 1 == stages_.size();
        Passes& passes = passesOf(stage, action.microBatch);
        switch (action.kind) {
            case ActionKind::ReceiveActivation:
                return receive(stage, activations_[stage], action.microBatch, !first);
            case ActionKind::ReceiveGradient:
                return receive(stage, gradients_[stage], action.microBatch, !last);
            case ActionKind::Forward:
                if (passes != Passes::None)
                    fail(stage, "comes twice");
                if (!first)
                    takeReceived(stage, action);
                passes = Passes::Forward;
                if (++inFlight_[stage] > stages_.size() - stage)
                    fail(stage,
                         fmt::format("holds more than {} micro-batches in flight", stages_.size() - stage));
                return true;
            case ActionKind::Backward:
                if (passes != Passes::Forward)
                    fail(stage, "does not follow its forward");
                if (!last)
                    takeReceived(stage, action);
                passes = Passes::Both;
                --inFlight_[stage];
                return true;
            case ActionKind::SendActivation:
                if (last || passes != Passes::Forward)
                    fail(stage, "does not follow its forward");
                activations_[stage + 1].push_back(action.microBatch);
                return true;
            case ActionKind::SendGradient:
                if (first || passes != Passes::Both)
                    fail(stage, "does not follow its backward");
                gradients_[stage - 1].push_back(action.microBatch);
                return true;
        }
        return false;
    }

    void takeReceived(std::size_t stage, const Action& action) {
        if (received_ != std::pair{stage, action.microBatch})
            fail(stage, "does not follow its receive");
        received_ = {stages_.size(), -1};
    }

    std::span<const ActionList> stages_;
    std::vector<std::size_t> position_;
    std::vector<std::size_t> inFlight_;
    std::vector<std::deque<int>> activations_;  ///< messages on their way to a stage
    std::vector<std::deque<int>> gradients_;
    std::vector<std::map<int, Passes>> passes_;
    std::pair<std::size_t, int> received_{0, -1};  ///< the receive that the next pass has to use
};

}  // namespace

void validateActions(std::span<const ActionList> stages, std::span<const int> microBatches) {
    SchedulePlay(stages, microBatches).run();
}

InFlightPeak inFlightPeak(const ActionList& actions, std::span<const std::int64_t> tokens) {
    std::int64_t held = 0;
    InFlightPeak peak;
    for (const Action& action : actions) {
        if (action.kind != ActionKind::Forward && action.kind != ActionKind::Backward)
            continue;
        BALLAST_CHECK(action.microBatch >= 0 && static_cast<std::size_t>(action.microBatch) < tokens.size());
        std::int64_t amount = tokens[static_cast<std::size_t>(action.microBatch)];
        held += action.kind == ActionKind::Forward ? amount : -amount;
        if (held > peak.tokens)
            peak = {held, action.microBatch};
    }
    return peak;
}

std::int64_t peakInFlightTokens(const ActionList& actions, std::span<const std::int64_t> tokens) {
    return inFlightPeak(actions, tokens).tokens;
}

}  // namespace ballast
