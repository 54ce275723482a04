// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/tensor_gathering.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "backend/model/safetensors.h"

namespace ballast::backend {

namespace {

int stageOf(const CostModel& cost, const TensorSpec& spec) {
    if (spec.layer < 0)
        return 0;
    std::int64_t end = 0;
    for (std::size_t stage = 0; stage < cost.stageLayers().size(); ++stage) {
        end += cost.stageLayers()[stage];
        if (spec.layer < end)
            return static_cast<int>(stage);
    }
    return cost.layout().pp - 1;
}

/// Index of a tensor that this rank holds (not as a copy), or -1.
int heldIndex(const Parameters& parameters, const TensorSpec& spec) {
    for (std::size_t i = 0; i < parameters.tensors().size(); ++i)
        if (parameters.tensors()[i].spec.name == spec.name && !parameters.tensors()[i].isCopy)
            return static_cast<int>(i);
    return -1;
}

void place(const TensorSpec& spec, const TensorPart& part, std::span<const float> values,
           std::span<float> whole) {
    const std::int64_t columns = spec.isMatrix() ? spec.columns : 1;
    for (std::int64_t row = 0; row < part.rows(); ++row)
        std::copy_n(values.data() + row * part.columns(), part.columns(),
                    whole.data() + (part.rowBegin + row) * columns + part.columnBegin);
}

/// One tensor's parts, from the stage that holds it (dp 0, cp 0); replicated tensors come from tp 0.
void gatherOne(const RankContext& context, const Parameters& parameters, Parameters::Kind kind,
               std::int64_t number, const TensorSpec& spec, std::vector<float>& whole) {
    const Layout& layout = context.groups.layout();
    Communicator& world = context.groups.world();
    const int parts = spec.split == TensorSplit::Whole ? 1 : layout.tp;
    if (world.rank() == 0)
        whole.resize(static_cast<std::size_t>(spec.count()));
    for (int tp = 0; tp < parts; ++tp) {
        const int owner = layout.rankOf({tp, 0, 0, stageOf(context.cost, spec)});
        const TensorPart part = tensorPart(spec, tp, layout.tp);
        const MessageTag tag{-1 - static_cast<std::int64_t>(kind), number, Direction::Forward, tp};
        std::span<const float> values;
        if (world.rank() == owner)
            values = parameters.values(kind, heldIndex(parameters, spec));
        if (owner == 0 && world.rank() == 0) {
            place(spec, part, values, whole);
        } else if (world.rank() == owner) {
            world.send({0, tag, 0, values, nullptr});
            world.flush();
        } else if (world.rank() == 0) {
            std::vector<float> received(static_cast<std::size_t>(part.count()));
            world.receive(owner, tag, received);
            place(spec, part, received, whole);
        }
    }
}

}  // namespace

void gatherTensors(const RankContext& context, const Parameters& parameters, Parameters::Kind kind,
                   const TakeTensor& take) {
    std::vector<float> whole;
    std::exception_ptr failure;
    std::int64_t number = 0;
    for (const TensorSpec& spec : tensorSpecs(context.cost.model())) {
        gatherOne(context, parameters, kind, number++, spec, whole);
        if (context.groups.rank() != 0 || failure)
            continue;
        try {
            take(spec, whole);
        } catch (...) {
            failure = std::current_exception();
        }
    }
    if (failure)
        std::rethrow_exception(failure);
}

void exportTensors(const RankContext& context, const Parameters& parameters, Parameters::Kind kind,
                   const std::filesystem::path& file) {
    std::optional<SafetensorsWriter> writer;
    gatherTensors(context, parameters, kind, [&](const TensorSpec&, std::span<const float> values) {
        if (!writer)
            writer.emplace(file, tensorSpecs(context.cost.model()));
        writer->write(values);
    });
    if (writer)
        writer->finish();
}

}  // namespace ballast::backend
