// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/comm/transport.h"
#include "backend/model/parameters.h"
#include "backend/trainer/pipeline_executor.h"
#include "core/plan/plan.h"
#include "core/timeline/span_file.h"
#include "core/timeline/timeline.h"
#include "core/workload/token_source.h"

namespace ballast::backend {

/// What a rank needs to train. The referenced objects outlive the trainer.
struct TrainerSetup {
    const Scenario& scenario;
    const CostModel& cost;  ///< of that scenario, its model and cluster
    const TokenSource& tokens;
    Clock clock = Clock::Wall;  ///< Wall or Virtual
    std::optional<PlantedDelay> delay;
    bool poisonMemory = false;  ///< tests: what is taken from the arena is NaN at first
};

/// A step read from the plan, with its tokens.
struct PreparedStep {
    std::int64_t step = 0;
    std::int64_t tokens = 0;              ///< of the whole job
    std::int64_t targets = 0;             ///< ditto
    std::vector<MicroBatchInput> inputs;  ///< of this rank's pipeline, none of them empty
};

/// A step that was trained.
struct TrainedStep {
    StepReport report;
    std::vector<Span> spans;
};

/// One rank of the trainer: real 4D-parallel training of a Llama-style decoder from a plan, with a profile of
/// what this rank did (trainer.md). Every rank of the layout has one, over its own transport, and calls the
/// collective functions in the same order. Belongs to one thread.
class Trainer {
  public:
    /// Collective: ends in a barrier at which all clocks start. Throws Error (BadInput) naming the key for
    /// what the model and layout cannot do.
    Trainer(const TrainerSetup& setup, Transport& transport);
    ~Trainer();
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    /// What can fail for one rank alone, before the step is entered: slices and tokens. No communication.
    /// Throws Error (BadInput).
    PreparedStep prepare(const PlanStep& step);

    /// Collective: forward, backward, sums, update. A step without targets updates nothing.
    /// beforeUpdate: runs when the gradients are complete and the weights still old; may be empty.
    TrainedStep run(const PreparedStep& step, const std::function<void()>& beforeUpdate = {});

    /// Collective; the whole tensors come to world rank 0 (tensor_gathering.h).
    void gather(Parameters::Kind kind,
                const std::function<void(const TensorSpec&, std::span<const float>)>& take) const;
    void exportTo(Parameters::Kind kind, const std::filesystem::path& file) const;

    ProcessGroups& groups();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ballast::backend
