// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/simulator.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "core/cost/memory_cost.h"
#include "core/schedule/pipeline_schedule.h"
#include "core/simulator/pass_program.h"
#include "core/simulator/step_state.h"

namespace ballast {
namespace {

/// More ranks than this are drawn by their passes: a span a layer and rank would be millions.
constexpr int kMostDetailedRanks = 128;

/// TP ranks behave alike unless their speeds differ.
int laneCount(const CostModel& cost) {
    const Layout& layout = cost.layout();
    for (int rank = 0; rank < layout.worldSize(); ++rank)
        if (cost.speed(rank) != cost.speed(rank - rank % layout.tp))
            return layout.tp;
    return 1;
}

class StepSimulation {
  public:
    StepSimulation(const StepWork& work, const CostModel& cost, const SimulationOptions& options,
                   Nanoseconds begin)
        : work_(work),
          cost_(cost),
          layout_(cost.layout()),
          costs_(cost),
          lanes_(laneCount(cost)),
          record_(options.recordSpans),
          detailed_(options.recordSpans && layout_.worldSize() <= kMostDetailedRanks),
          begin_(begin),
          state_(cellRanks(), begin) {
        BALLAST_CHECK(work.pipelines.size() == static_cast<std::size_t>(layout_.dp));
    }

    SimulatedStep run() {
        for (int dp = 0; dp < layout_.dp; ++dp)
            runPipeline(dp);
        runStepCollectives();
        for (int cell = 0; cell < state_.cells(); ++cell)
            runOptimizer(cell);
        return result();
    }

  private:
    /// Messages of one neighbour pair and direction, by place of the micro-batch in the pipeline.
    struct Channel {
        std::vector<std::vector<Nanoseconds>> sentAt;  ///< by place, by member; empty = not sent yet
    };

    std::vector<int> cellRanks() const {
        std::vector<int> ranks;
        for (int rank = 0; rank < layout_.worldSize(); ++rank)
            if (lanes_ == layout_.tp || rank % layout_.tp == 0)
                ranks.push_back(rank);
        return ranks;
    }

    StageRanks stageRanks(int dp, int pp) const { return {layout_, lanes_, dp, pp}; }
    int cellOf(const StageRanks& stage, int member) const {
        return member + stage.members() * (stage.dp + layout_.dp * stage.pp);
    }
    int cellOfRank(int rank) const { return lanes_ == layout_.tp ? rank : rank / layout_.tp; }
    int rankOfCell(int cell) const { return lanes_ == layout_.tp ? cell : cell * layout_.tp; }

    void runPipeline(int dp) {
        const auto& batches = work_.pipelines[static_cast<std::size_t>(dp)];
        std::vector<int> places(batches.size());
        std::iota(places.begin(), places.end(), 0);
        // The only schedule that scenarios can name today.
        std::vector<ActionList> lists = pipelineActions("1f1b", layout_.pp, places);
        auto stages = static_cast<std::size_t>(layout_.pp);
        activations_.assign(stages, {std::vector<std::vector<Nanoseconds>>(batches.size())});
        gradients_.assign(stages, {std::vector<std::vector<Nanoseconds>>(batches.size())});
        std::vector<std::size_t> position(stages);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t pp = 0; pp < stages; ++pp)
                while (position[pp] < lists[pp].size() &&
                       act(stageRanks(dp, static_cast<int>(pp)), lists[pp][position[pp]])) {
                    ++position[pp];
                    moved = true;
                }
        }
        for (std::size_t pp = 0; pp < stages; ++pp)
            BALLAST_CHECK(position[pp] == lists[pp].size());
    }

    /// Performs an action of a stage, or returns false while its message is not sent.
    bool act(const StageRanks& stage, const Action& action) {
        auto place = static_cast<std::size_t>(action.microBatch);
        const MicroBatchWork& batch = work_.pipelines[static_cast<std::size_t>(stage.dp)][place];
        auto at = static_cast<std::size_t>(stage.pp);
        switch (action.kind) {
            case ActionKind::ReceiveActivation:
                return receive(stage, stage.pp - 1, activations_[at].sentAt[place], batch);
            case ActionKind::ReceiveGradient:
                return receive(stage, stage.pp + 1, gradients_[at].sentAt[place], batch);
            case ActionKind::Forward:
                pass(stage, batch, Direction::Forward);
                return true;
            case ActionKind::Backward:
                pass(stage, batch, Direction::Backward);
                return true;
            case ActionKind::SendActivation:
                activations_[at + 1].sentAt[place] = clocks(stage);
                return true;
            case ActionKind::SendGradient:
                gradients_[at - 1].sentAt[place] = clocks(stage);
                return true;
        }
        return false;
    }

    std::vector<Nanoseconds> clocks(const StageRanks& stage) const {
        std::vector<Nanoseconds> clocks;
        for (int member = 0; member < stage.members(); ++member)
            clocks.push_back(state_.clock(cellOf(stage, member)));
        return clocks;
    }

    bool receive(const StageRanks& stage, int fromStage, const std::vector<Nanoseconds>& sentAt,
                 const MicroBatchWork& batch) {
        if (sentAt.empty())
            return false;
        if (work_.messagesAlwaysThere)
            return true;
        StageRanks from = stageRanks(stage.dp, fromStage);
        for (int member = 0; member < stage.members(); ++member) {
            std::int64_t tokens = batch.rankTokens[static_cast<std::size_t>(stage.cpOf(member))];
            Bytes bytes(tokens * cost_.model().hiddenSize * cost_.activationBytes());
            Nanoseconds transfer =
                work_.freeTransfers
                    ? 0
                    : toNanoseconds(cost_.pointToPoint(bytes, from.rankOf(member), stage.rankOf(member)));
            TransferNote note{SpanKind::PpReceive,    bytes.value(), tokens, batch.index, -1,
                              batch.heaviestDocument, record_};
            state_.receive(cellOf(stage, member), cellOf(from, member),
                           sentAt[static_cast<std::size_t>(member)], transfer, note);
        }
        return true;
    }

    void pass(const StageRanks& stage, const MicroBatchWork& batch, Direction direction) {
        PassProgram program = passProgram(costs_, stage, batch, direction, work_.freeTransfers);
        std::vector<Nanoseconds> begin = clocks(stage);
        perform(stage, batch, program.before, -1);
        performLayers(stage, batch, program, direction);
        perform(stage, batch, program.after, -1);
        if (!record_)
            return;
        for (int member = 0; member < stage.members(); ++member) {
            double flops = passFlops(program, member);
            int cell = cellOf(stage, member);
            Nanoseconds from = begin[static_cast<std::size_t>(member)];
            if (state_.clock(cell) == from)
                continue;
            state_.recordPass(
                cell, {.begin = from,
                       .end = state_.clock(cell),
                       .waitingUntil = from,
                       .tokens = batch.rankTokens[static_cast<std::size_t>(stage.cpOf(member))],
                       .flops = flops,
                       .microBatch = batch.index,
                       .kind = direction == Direction::Forward ? SpanKind::Forward : SpanKind::Backward,
                       .lane = Lane::Pipeline});
        }
    }

    static double passFlops(const PassProgram& program, int member) {
        auto sum = [&](const std::vector<PassOperation>& operations) {
            double flops = 0;
            for (const PassOperation& operation : operations)
                flops += operation.flops[static_cast<std::size_t>(member)];
            return flops;
        };
        return sum(program.before) + static_cast<double>(program.layers) * sum(program.layer) +
               sum(program.after);
    }

    /// Layer after layer; without spans, once a layer leaves the clocks in the same relation to each other as
    /// the one before, the rest are as many times the same.
    void performLayers(const StageRanks& stage, const MicroBatchWork& batch, const PassProgram& program,
                       Direction direction) {
        std::int64_t first = std::accumulate(cost_.stageLayers().begin(),
                                             cost_.stageLayers().begin() + stage.pp, std::int64_t{0});
        std::vector<Nanoseconds> before = clocks(stage);
        std::vector<RankTally> tallies;
        for (std::int64_t done = 0; done < program.layers; ++done) {
            if (!detailed_) {
                tallies.clear();
                for (int member = 0; member < stage.members(); ++member)
                    tallies.push_back(state_.tally(cellOf(stage, member)));
            }
            std::int64_t layer =
                direction == Direction::Forward ? first + done : first + program.layers - 1 - done;
            perform(stage, batch, program.layer, layer);
            std::vector<Nanoseconds> after = clocks(stage);
            Nanoseconds step = after.front() - before.front();
            bool repeats = true;
            for (std::size_t member = 0; member < after.size(); ++member)
                repeats = repeats && after[member] - before[member] == step;
            if (!detailed_ && repeats) {
                std::int64_t rest = program.layers - done - 1;
                for (int member = 0; member < stage.members(); ++member) {
                    int cell = cellOf(stage, member);
                    state_.advance(cell, rest * step);
                    state_.tally(cell).repeatSince(tallies[static_cast<std::size_t>(member)], rest);
                }
                return;
            }
            before = std::move(after);
        }
    }

    void perform(const StageRanks& stage, const MicroBatchWork& batch,
                 const std::vector<PassOperation>& operations, std::int64_t layer) {
        for (const PassOperation& operation : operations) {
            if (operation.isCollective)
                performCollective(stage, batch, operation, layer);
            else
                for (int member = 0; member < stage.members(); ++member) {
                    auto at = static_cast<std::size_t>(member);
                    state_.compute(cellOf(stage, member), operation.duration[at],
                                   {.tokens = batch.rankTokens[static_cast<std::size_t>(stage.cpOf(member))],
                                    .flops = operation.flops[at],
                                    .microBatch = batch.index,
                                    .layer = static_cast<std::int32_t>(layer),
                                    .kind = operation.kind,
                                    .lane = Lane::Compute},
                                   detailed_);
                }
        }
    }

    void performCollective(const StageRanks& stage, const MicroBatchWork& batch,
                           const PassOperation& operation, std::int64_t layer) {
        bool context = operation.axis == GroupAxis::Context;
        int groups = context ? lanes_ : layout_.cp;
        std::vector<int> members;
        for (int group = 0; group < groups; ++group) {
            members.clear();
            for (int member = 0; member < stage.members(); ++member)
                if ((context ? member % lanes_ : stage.cpOf(member)) == group)
                    members.push_back(cellOf(stage, member));
            auto first = static_cast<std::size_t>(context ? group : group * lanes_);
            TransferNote note{operation.kind,
                              operation.bytes[first],
                              context ? batch.tokens : batch.rankTokens[static_cast<std::size_t>(group)],
                              batch.index,
                              static_cast<std::int32_t>(layer),
                              batch.heaviestDocument,
                              detailed_};
            state_.collective(members, operation.duration[first], note);
        }
    }

    void runStepCollectives() {
        for (CollectivePurpose purpose : {CollectivePurpose::GradientSum, CollectivePurpose::TiedEmbeddingSum,
                                          CollectivePurpose::NormSum, CollectivePurpose::LossSum})
            for (int cell = 0; cell < state_.cells(); ++cell)
                runStepCollective(purpose, cell);
    }

    /// The cell's collective of this purpose, once for its group: by its first member.
    void runStepCollective(CollectivePurpose purpose, int cell) {
        int rank = rankOfCell(cell);
        Coordinate at = layout_.coordinateOf(rank);
        std::vector<CollectiveCall> calls = stepCollectives(cost_, at.pp, at.tp);
        auto call = std::find_if(calls.begin(), calls.end(), [&](const CollectiveCall& candidate) {
            return candidate.purpose == purpose;
        });
        if (call == calls.end() || (call->axis == GroupAxis::World && cell != 0))
            return;
        std::vector<int> ranks = groupRanks(layout_, call->axis, rank);
        if (ranks.front() != rank)
            return;
        std::vector<int> members;
        for (int member : ranks)
            if (rankOfCell(cellOfRank(member)) == member)
                members.push_back(cellOfRank(member));
        Nanoseconds transfer =
            work_.freeTransfers ? 0 : toNanoseconds(cost_.collective(call->operation, call->bytes, ranks));
        TransferNote note{spanKindOf(purpose), call->bytes.value(), 0, -1, -1, -1, record_};
        state_.collective(members, transfer, note, [&](int last) { return heaviestDocument(last); });
    }

    /// Of the micro-batch with the most attention work in the pipeline of a cell.
    std::int64_t heaviestDocument(int cell) const {
        const auto& batches =
            work_.pipelines[static_cast<std::size_t>(layout_.coordinateOf(rankOfCell(cell)).dp)];
        auto pairs = [](const MicroBatchWork& batch) {
            return std::accumulate(batch.attentionPairs.begin(), batch.attentionPairs.end(), 0.0);
        };
        auto heaviest = std::max_element(
            batches.begin(), batches.end(),
            [&](const MicroBatchWork& a, const MicroBatchWork& b) { return pairs(a) < pairs(b); });
        return heaviest == batches.end() ? -1 : heaviest->heaviestDocument;
    }

    void runOptimizer(int cell) {
        int rank = rankOfCell(cell);
        Coordinate at = layout_.coordinateOf(rank);
        Seconds seconds = cost_.optimizer(stageParameters(cost_, at.pp, at.tp)) / cost_.speed(rank);
        state_.compute(cell, toNanoseconds(seconds), {.kind = SpanKind::Optimizer, .lane = Lane::Compute},
                       record_);
    }

    SimulatedStep result() {
        SimulatedStep step;
        Nanoseconds end = begin_;
        for (int cell = 0; cell < state_.cells(); ++cell)
            end = std::max(end, state_.clock(cell));
        step.stepTime = toSeconds(end - begin_);
        step.tokens = work_.tokens;
        step.timeline.step = work_.step;
        step.timeline.begin = begin_;
        step.timeline.end = end;
        std::vector<RankSpans> cellSpans(static_cast<std::size_t>(state_.cells()));
        double compute = 0;
        for (int rank = 0; rank < layout_.worldSize(); ++rank) {
            int cell = cellOfRank(rank);
            if (rankOfCell(cell) == rank)
                state_.tally(cell).pipelineIdle += end - state_.clock(cell);
            step.ranks.push_back(state_.tally(cell).breakdown());
            compute += step.ranks.back().computeSeconds();
        }
        if (step.stepTime.value() > 0)
            step.bubble = 1 - compute / layout_.worldSize() / step.stepTime.value();
        if (record_)
            addSpans(step.timeline);
        return step;
    }

    void addSpans(StepTimeline& timeline) {
        for (int cell = 0; cell < state_.cells(); ++cell) {
            std::vector<Span> spans = state_.takeSpans(cell);
            int copies = lanes_ == layout_.tp ? 1 : layout_.tp;
            for (int tp = 0; tp < copies; ++tp) {
                RankSpans& rank = timeline.ranks.emplace_back();
                rank.rank = rankOfCell(cell) + tp;
                rank.spans = spans;
                for (Span& span : rank.spans)
                    if (span.blamedRank >= 0)
                        span.blamedRank += tp;
            }
        }
    }

    const StepWork& work_;
    const CostModel& cost_;
    const Layout& layout_;
    PassCosts costs_;
    int lanes_;
    bool record_;
    bool detailed_;
    Nanoseconds begin_;
    StepState state_;
    std::vector<Channel> activations_;  ///< by receiving stage
    std::vector<Channel> gradients_;
};

}  // namespace

SimulatedStep simulateStep(const StepWork& work, const CostModel& cost, const SimulationOptions& options,
                           Nanoseconds begin) {
    SimulatedStep step = StepSimulation(work, cost, options, begin).run();
    StepWork equal = idealised(idealised(work, Ideal::Packing), Ideal::Sharding);
    step.bubbleSchedule = StepSimulation(equal, cost, {.recordSpans = false}, 0).run().bubble;
    const ModelSpec& model = cost.model();
    step.modelFlops =
        6.0 * static_cast<double>(model.matmulParameters()) * static_cast<double>(work.tokens) +
        12.0 * static_cast<double>(model.heads * model.headDim * model.layers) * work.attentionPairs();
    step.memory = stepPeakMemory(work, cost);
    return step;
}

}  // namespace ballast
