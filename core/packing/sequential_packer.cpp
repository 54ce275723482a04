// SPDX-License-Identifier: Apache-2.0
#include "core/packing/sequential_packer.h"

#include <fmt/format.h>

#include <chrono>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast {

SequentialPacker::SequentialPacker(const PackerSetup& setup)
    : cost_(&setup.cost),
      window_(setup.scenario.lengths.window),
      dp_(setup.scenario.layout.dp),
      microBatchesPerRank_(setup.scenario.microBatches) {
    const PackingOptions& options = setup.scenario.packing;
    if (setup.scenario.lengths.cut == CutPolicy::None)
        throw Error(
            "packing.strategy=sequential does not go with lengths.cut=none: whole documents do not "
            "fill windows; use cut=window, or another strategy");
    if (options.align != 1)
        throw Error(
            fmt::format("packing.strategy=sequential does not go with packing.align={}: a full "
                        "window has no room for padding; use align=1, or another strategy",
                        options.align));
    if (options.maxDocuments)
        throw Error(
            fmt::format("packing.strategy=sequential does not go with packing.max_documents={}: a "
                        "window holds what comes; use null, or another strategy",
                        *options.maxDocuments));
    if (options.maxTokens && *options.maxTokens < window_)
        throw Error(
            fmt::format("packing.max_tokens={} is below lengths.window={}, which "
                        "packing.strategy=sequential fills; use auto, or another strategy",
                        *options.maxTokens, window_));
}

std::vector<PackedStep> SequentialPacker::pack(const GlobalBatch& batch) {
    auto started = std::chrono::steady_clock::now();
    PackedStep step;
    step.step = batch.step;
    step.kind = batch.partial ? StepKind::Partial : StepKind::Full;
    for (int dp = 0; dp < dp_; ++dp)
        for (int index = 0; index < microBatchesPerRank_; ++index) {
            MicroBatch& microBatch = step.microBatches.emplace_back();
            microBatch.dp = dp;
            microBatch.index = index;
        }
    std::int64_t position = 0;
    for (const Piece& piece : batch.pieces) {
        std::int64_t window = position / window_;
        position += piece.length();
        // The stream cuts at window borders, so that no piece reaches over one.
        BALLAST_CHECK((position - 1) / window_ == window);
        std::int64_t place = window % dp_ * microBatchesPerRank_ + window / dp_;
        BALLAST_CHECK(place < static_cast<std::int64_t>(step.microBatches.size()));
        append(step.microBatches[static_cast<std::size_t>(place)], {piece, cost_->pieceWork(piece.length())});
    }
    step.packMilliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    empty_.add(step);
    std::vector<PackedStep> steps;
    steps.push_back(std::move(step));
    return steps;
}

}  // namespace ballast
