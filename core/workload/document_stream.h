// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/job/scenario.h"
#include "core/workload/document.h"
#include "core/workload/length_source.h"

namespace ballast {

/// The pieces of one optimiser step as they arrive, in stream order.
struct GlobalBatch {
    std::int64_t step = 0;
    std::vector<Piece> pieces;
    std::int64_t tokens = 0;
    bool partial = false;  ///< the source ended inside it
};

/// The global batches every packer gets, planner.md section 2: order, overlong policy, cut at window borders.
/// Batch t is tokens [t*N*window, (t+1)*N*window) of the stream. Every token is in exactly one batch or in
/// discards().
class DocumentStream {
  public:
    /// microBatches = N = dp * micro_batches. The source must outlive the stream.
    DocumentStream(const LengthSource& source, const LengthsOptions& options, int microBatches);
    ~DocumentStream();
    DocumentStream(DocumentStream&&) noexcept;

    /// The next batch, or nothing when the last epoch has ended.
    std::optional<GlobalBatch> next();

    /// Ranges left out so far by the overlong policy.
    const std::vector<Discard>& discards() const;
    std::int64_t emptyDocuments() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ballast
