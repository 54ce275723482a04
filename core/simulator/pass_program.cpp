// SPDX-License-Identifier: Apache-2.0
#include "core/simulator/pass_program.h"

#include <numeric>

#include "core/timeline/timeline.h"

namespace ballast {
namespace {

class PassBuilder {
  public:
    PassBuilder(PassCosts& costs, const StageRanks& stage, const MicroBatchWork& work, Direction direction,
                bool freeTransfers)
        : costs_(costs),
          cost_(costs.model()),
          stage_(stage),
          work_(work),
          direction_(direction),
          freeTransfers_(freeTransfers) {}

    PassProgram build() {
        PassProgram program;
        program.layers = cost_.stageLayers()[static_cast<std::size_t>(stage_.pp)];
        program.layer = layer();
        if (stage_.pp == 0)
            (forward() ? program.before : program.after) = embedding();
        if (stage_.pp == cost_.layout().pp - 1)
            (forward() ? program.after : program.before) = head();
        return program;
    }

  private:
    bool forward() const { return direction_ == Direction::Forward; }
    std::int64_t tokens(int member) const {
        return work_.rankTokens[static_cast<std::size_t>(stage_.cpOf(member))];
    }

    /// seconds(member) and flops(member) of one kernel.
    template <class SecondsOf, class FlopsOf>
    PassOperation compute(SpanKind kind, SecondsOf seconds, FlopsOf flops) const {
        PassOperation operation;
        operation.kind = kind;
        for (int member = 0; member < stage_.members(); ++member) {
            operation.duration.push_back(toNanoseconds(seconds(member) / cost_.speed(stage_.rankOf(member))));
            operation.flops.push_back(flops(member));
            operation.bytes.push_back(0);
        }
        return operation;
    }

    /// callOf(member) gives the call whose bytes may differ from one cp rank to the next.
    template <class CallOf>
    PassOperation collective(CallOf callOf) const {
        PassOperation operation;
        operation.isCollective = true;
        for (int member = 0; member < stage_.members(); ++member) {
            CollectiveCall call = callOf(member);
            operation.axis = call.axis;
            operation.kind = spanKindOf(call.purpose);
            operation.duration.push_back(toNanoseconds(transfer(call, member)));
            operation.bytes.push_back(bytes(call));
            operation.flops.push_back(0);
        }
        return operation;
    }

    bool isNeeded(const CollectiveCall& call) const {
        return call.axis == GroupAxis::Context && !work_.exchangedBytes.empty();
    }

    /// Of a collective the full tensor; of a need-based exchange all that travels in the group.
    std::int64_t bytes(const CollectiveCall& call) const {
        const std::vector<std::int64_t>& exchanged = work_.exchangedBytes;
        return isNeeded(call) ? std::accumulate(exchanged.begin(), exchanged.end(), std::int64_t{0})
                              : call.bytes.value();
    }

    Seconds transfer(const CollectiveCall& call, int member) const {
        if (freeTransfers_)
            return Seconds();
        std::vector<int> ranks = groupRanks(stage_.layout, call.axis, stage_.rankOf(member));
        if (isNeeded(call))
            return pairwiseExchangeSeconds(cost_.cluster(), ranks, work_.exchangedBytes);
        return cost_.collective(call.operation, call.bytes, ranks);
    }

    /// Parameters of a part's matrices on one tp rank; two FLOPs each and token forward, four backward.
    double partFlops(LayerPart part, std::int64_t rankTokens) const {
        const ModelSpec& model = cost_.model();
        std::int64_t parameters = 0;
        switch (part) {
            case LayerPart::AttentionInput:
                parameters = model.hiddenSize * (model.heads + 2 * model.kvHeads) * model.headDim;
                break;
            case LayerPart::AttentionOutput:
                parameters = model.heads * model.headDim * model.hiddenSize;
                break;
            case LayerPart::FeedForward:
                parameters = 3 * model.hiddenSize * model.intermediateSize;
                break;
            case LayerPart::Attention:
                break;
        }
        return linearFlops(parameters, rankTokens);
    }

    double linearFlops(std::int64_t parameters, std::int64_t rankTokens) const {
        return (forward() ? 2.0 : 4.0) * static_cast<double>(parameters) * static_cast<double>(rankTokens) /
               cost_.layout().tp;
    }

    void addPart(std::vector<PassOperation>& operations, LayerPart part) const {
        std::vector<LayerPartSeconds> seconds;
        for (int member = 0; member < stage_.members(); ++member)
            seconds.push_back(costs_.part(part, direction_, tokens(member)));
        PassOperation linear = compute(
            forward() ? SpanKind::LinearForward : SpanKind::LinearBackward,
            [&](int member) { return seconds[static_cast<std::size_t>(member)].linear; },
            [&](int member) { return partFlops(part, tokens(member)); });
        PassOperation elementwise = compute(
            SpanKind::Elementwise,
            [&](int member) { return seconds[static_cast<std::size_t>(member)].elementwise; },
            [](int) { return 0.0; });
        // The norm stands before its products, the residual after its product; backward the other way round.
        bool elementwiseFirst = (part == LayerPart::AttentionOutput) != forward();
        operations.push_back(elementwiseFirst ? elementwise : linear);
        operations.push_back(elementwiseFirst ? linear : elementwise);
    }

    PassOperation attention() const {
        const ModelSpec& model = cost_.model();
        double perPair =
            (forward() ? 4.0 : 10.0) * static_cast<double>(model.heads * model.headDim) / cost_.layout().tp;
        const std::vector<Seconds>& seconds = forward() ? work_.attentionForward : work_.attentionBackward;
        auto cp = [&](int member) { return static_cast<std::size_t>(stage_.cpOf(member)); };
        return compute(
            forward() ? SpanKind::AttentionForward : SpanKind::AttentionBackward,
            [&](int member) { return seconds[cp(member)]; },
            [&](int member) { return perPair * work_.attentionPairs[cp(member)]; });
    }

    std::vector<PassOperation> layer() const {
        std::vector<std::vector<LayerOperation>> lists;
        for (int member = 0; member < stage_.members(); ++member)
            lists.push_back(layerOperations(cost_, direction_, tokens(member), work_.tokens));
        std::vector<PassOperation> operations;
        for (std::size_t i = 0; i < lists.front().size(); ++i) {
            const LayerOperation& operation = lists.front()[i];
            if (operation.isCollective)
                operations.push_back(
                    collective([&](int member) { return lists[static_cast<std::size_t>(member)][i].call; }));
            else if (operation.part == LayerPart::Attention)
                operations.push_back(attention());
            else
                addPart(operations, operation.part);
        }
        return operations;
    }

    std::vector<PassOperation> embedding() const {
        std::vector<PassOperation> operations = {compute(
            SpanKind::Embedding, [&](int member) { return cost_.embedding(tokens(member), direction_); },
            [](int) { return 0.0; })};
        std::size_t calls = embeddingCollectives(cost_, direction_, 0).size();
        for (std::size_t i = 0; i < calls; ++i)
            operations.push_back(collective(
                [&](int member) { return embeddingCollectives(cost_, direction_, tokens(member))[i]; }));
        return operations;
    }

    std::vector<PassOperation> head() const {
        std::vector<LayerPartSeconds> seconds;
        for (int member = 0; member < stage_.members(); ++member)
            seconds.push_back(cost_.head(tokens(member), direction_));
        const ModelSpec& model = cost_.model();
        PassOperation linear = compute(
            forward() ? SpanKind::LinearForward : SpanKind::LinearBackward,
            [&](int member) { return seconds[static_cast<std::size_t>(member)].linear; },
            [&](int member) { return linearFlops(model.hiddenSize * model.vocabularySize, tokens(member)); });
        PassOperation loss = compute(
            SpanKind::Loss, [&](int member) { return seconds[static_cast<std::size_t>(member)].elementwise; },
            [](int) { return 0.0; });
        std::vector<PassOperation> collectives;
        std::size_t calls = headCollectives(cost_, direction_, 0).size();
        for (std::size_t i = 0; i < calls; ++i)
            collectives.push_back(collective(
                [&](int member) { return headCollectives(cost_, direction_, tokens(member))[i]; }));
        std::vector<PassOperation> operations = {forward() ? linear : loss};
        if (!forward())
            operations.push_back(linear);
        operations.insert(operations.end(), collectives.begin(), collectives.end());
        if (forward())
            operations.push_back(loss);
        return operations;
    }

    PassCosts& costs_;
    const CostModel& cost_;
    const StageRanks& stage_;
    const MicroBatchWork& work_;
    Direction direction_;
    bool freeTransfers_;
};

}  // namespace

LayerPartSeconds PassCosts::part(LayerPart part, Direction direction, std::int64_t tokens) {
    auto [entry, isNew] = known_.try_emplace({part, direction, tokens});
    if (isNew) {
        switch (part) {
            case LayerPart::AttentionInput:
                entry->second = cost_.attentionInput(tokens, direction);
                break;
            case LayerPart::AttentionOutput:
                entry->second = cost_.attentionOutput(tokens, direction);
                break;
            case LayerPart::FeedForward:
                entry->second = cost_.feedForward(tokens, direction);
                break;
            case LayerPart::Attention:
                break;
        }
    }
    return entry->second;
}

PassProgram passProgram(PassCosts& costs, const StageRanks& stage, const MicroBatchWork& work,
                        Direction direction, bool freeTransfers) {
    return PassBuilder(costs, stage, work, direction, freeTransfers).build();
}

}  // namespace ballast
