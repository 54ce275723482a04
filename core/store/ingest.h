// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/store/workspace.h"

namespace ballast {

/// Brings the spool of a measured run into its workspace. A step is finished when the chunk of every rank is
/// there; each goes in one transaction, so that a killed program leaves whole steps and nothing else.
/// Starting again over the same spool skips what the workspace has. Holds at most two steps in memory,
/// whatever the spool holds.
class SpoolIngest {
  public:
    /// The workspace must outlive this. Throws Error for an unknown run.
    SpoolIngest(Workspace& workspace, RunId run, const std::filesystem::path& spoolFolder);

    /// Reads what the ranks have written since and stores every finished step, oldest first. Returns how
    /// many. Throws Error with file and offset for a damaged chunk, or naming rank and step for one that the
    /// plan does not hold; what was stored before stays.
    std::int64_t storeFinishedSteps();

    /// Once no rank writes any more: stores the step that the run ended in as partial, with the ranks that
    /// delivered nothing. False when no rank delivered anything beyond the last finished step.
    bool storePartialStep();

    /// Finished steps in the workspace.
    std::int64_t finishedSteps() const { return static_cast<std::int64_t>(finished_.size()); }

  private:
    struct RankFile {
        int rank;
        SpoolReader reader;
        std::deque<SpoolChunk> waiting;
    };
    struct PlannedStep {
        std::int64_t tokens = 0;
        std::int64_t targets = 0;
        double imbalanceDegree = 0;
    };

    void readAhead(RankFile& file);
    void check(const SpoolChunk& chunk, const std::filesystem::path& file) const;
    std::optional<std::int64_t> oldestWaiting() const;
    void store(std::int64_t step);

    Workspace& workspace_;
    RunId run_;
    std::filesystem::path spoolFolder_;
    bool planned_ = false;
    std::map<std::int64_t, PlannedStep> plan_;
    std::vector<RankFile> files_;
    std::set<std::int64_t> finished_;
    std::map<std::int64_t, Nanoseconds> ends_;  ///< of finished steps: where the next one begins
};

/// max / mean of the non-empty micro-batches' workloads, by step (planner.md, section 1).
std::map<std::int64_t, double> imbalanceDegrees(const std::vector<MicroBatchRecord>& microBatches);

}  // namespace ballast
