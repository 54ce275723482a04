// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>

#include "backend/model/transformer.h"
#include "core/schedule/pipeline_schedule.h"

namespace ballast::backend {

/// Processor time burnt in one rank's first forward of a step: a test of the profile, which has to show it
/// as that rank's computation and its peers' waiting. Stands in a run's run.json as "planted_delay".
struct PlantedDelay {
    int rank = 0;
    std::int64_t step = 0;
    std::int64_t milliseconds = 0;
};

/// Runs one step's actions of a stage (core/schedule/pipeline_schedule.h): micro-batches of any lengths, in
/// the order of the list, with messages that say which they are.
class PipelineExecutor {
  public:
    PipelineExecutor(const RankContext& context, Transformer& transformer, std::optional<PlantedDelay> delay);

    /// inputs: this pipeline's micro-batches that are not empty, in its order; maybe none.
    void run(std::string_view scheduleKind, std::span<const MicroBatchInput> inputs);

  private:
    void perform(const Action& action, const MicroBatchInput& input);
    void forward(const MicroBatchInput& input);
    void backward(const MicroBatchInput& input);
    Buffer receive(int from, Direction direction, const MicroBatchInput& input);
    void send(int to, Direction direction, const MicroBatchInput& input, Buffer payload);
    void burn(const MicroBatchInput& input);

    const RankContext& context_;
    Transformer& transformer_;
    std::optional<PlantedDelay> delay_;
    std::map<int, Buffer> received_;  ///< activations, then gradients, between an action and the next
    std::map<int, Buffer> outgoing_;
};

}  // namespace ballast::backend
