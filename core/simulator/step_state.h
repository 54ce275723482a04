// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/timeline/timeline.h"

namespace ballast {

/// What one rank has done so far in a step, in ns, so that parts sum exactly.
struct RankTally {
    std::array<Nanoseconds, kSpanKindCount + 1> kinds{};
    std::array<Nanoseconds, kSpanKindCount + 1> waiting{};
    Nanoseconds pipelineIdle = 0;

    /// Adds `times` times what came since `before`.
    void repeatSince(const RankTally& before, std::int64_t times);
    RankBreakdown breakdown() const;
};

/// A collective or receive as it is recorded.
struct TransferNote {
    SpanKind kind{};
    std::int64_t bytes = 0;
    std::int64_t tokens = 0;
    std::int32_t microBatch = -1;
    std::int32_t layer = -1;
    std::int64_t document = -1;  ///< blamed where a member waited
    bool record = true;
};

/// Compute times C of all simulated ranks ("cells"), what they did, and their spans: the clock rules of
/// trainer.md, "Two clocks".
class StepState {
  public:
    /// rankOf: the rank that a cell stands for, for blame.
    StepState(std::vector<int> rankOf, Nanoseconds begin);

    Nanoseconds clock(int cell) const { return clocks_[index(cell)]; }
    int cells() const { return static_cast<int>(clocks_.size()); }
    RankTally& tally(int cell) { return tallies_[index(cell)]; }
    const RankTally& tally(int cell) const { return tallies_[index(cell)]; }

    /// Adds `span.duration()`, counted from the cell's clock, to its compute lane.
    void compute(int cell, Nanoseconds duration, Span span, bool record);
    /// Blocking collective: all start at the latest clock of the members.
    void collective(std::span<const int> members, Nanoseconds transfer, const TransferNote& note);
    /// The same with a document that depends on who came last.
    template <class DocumentOf>
    void collective(std::span<const int> members, Nanoseconds transfer, TransferNote note,
                    DocumentOf documentOf) {
        note.document = documentOf(latest(members));
        collective(members, transfer, note);
    }
    /// C = max(C, sentAt + transfer); waits until sentAt.
    void receive(int cell, int sender, Nanoseconds sentAt, Nanoseconds transfer, const TransferNote& note);
    /// Moves a clock forward over work whose tally was repeated.
    void advance(int cell, Nanoseconds by) { clocks_[index(cell)] += by; }
    void recordPass(int cell, Span span) { passes_[index(cell)].push_back(span); }

    std::vector<Span> takeSpans(int cell);

  private:
    static std::size_t index(int cell) { return static_cast<std::size_t>(cell); }
    int latest(std::span<const int> members) const;

    std::vector<int> rankOf_;
    std::vector<Nanoseconds> clocks_;
    std::vector<RankTally> tallies_;
    std::vector<std::vector<Span>> passes_;
    std::vector<std::vector<Span>> operations_;
};

}  // namespace ballast
