// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.h"
#include "core/timeline/span_file.h"
#include "core/timeline/timeline.h"

namespace ballast {

using RunId = std::int64_t;

/// Values are on disk.
enum class RunKind : std::uint8_t { Simulated = 1, Measured = 2, Imported = 3 };
enum class RunState : std::uint8_t {
    Planned = 1,
    Queued = 2,
    Running = 3,
    Stopping = 4,
    Done = 5,
    Stopped = 6,
    Failed = 7,
    Lost = 8
};
std::string_view runKindName(RunKind kind);
std::string_view runStateName(RunState state);
std::optional<RunState> runStateFromName(std::string_view name);

/// A row of `runs`.
struct RunRecord {
    RunId id = 0;
    RunKind kind = RunKind::Measured;
    RunState state = RunState::Planned;
    Clock clock = Clock::Simulated;
    Layout layout;
    std::string name;       ///< "wlb + adaptive"
    std::string scenario;   ///< JSON
    std::string tokensAre;  ///< "file" or "synthetic"; empty for simulated
    std::string host;
    std::string failure;               ///< one sentence; empty unless failed
    std::optional<RunId> prediction;   ///< the stored simulation of the same plan
    std::optional<std::int64_t> plan;  ///< row of `plans`
    std::int64_t createdAt = 0;        ///< seconds since 1970
    std::int64_t plannedSteps = 0;     ///< 0 = unknown
    int costModelVersion = 0;
};

/// A row of `steps`; measured and simulated alike.
struct StepRecord {
    std::int64_t id = 0;  ///< grows; readers poll by it
    std::int64_t step = 0;
    bool complete = true;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int64_t tokens = 0;
    std::int64_t targets = 0;
    std::optional<double> loss{};  ///< absent without targets, or for a simulation
    double gradientNorm = 0;
    double learningRate = 0;
    double imbalanceDegree = 0;       ///< predicted, of the step's packing
    std::vector<int> missingRanks{};  ///< of a partial step: delivered nothing
};

/// What one rank did in one step, summed, so that comparing two long runs needs no spans.
struct RankStepRecord {
    std::int64_t step = 0;
    int rank = 0;
    RankBreakdown breakdown;
    std::int64_t peakBytes[6] = {};
};

/// A micro-batch of a step as planned.
struct MicroBatchRecord {
    std::int64_t step = 0;
    int dp = 0;
    int index = 0;
    std::int64_t tokens = 0;
    double workloadSeconds = 0;
    std::string sharding;
};

/// A row of `plans`.
struct PlanRecord {
    std::int64_t id = 0;
    std::int64_t createdAt = 0;  ///< seconds since 1970
    std::int64_t steps = 0;
    std::int64_t pieces = 0;
    std::int64_t tokens = 0;
    std::string content;  ///< fingerprint of the pieces trained, content_hash.h
    int costModelVersion = 0;
};

/// A row of `plan_steps` without its body.
struct PlanStepRecord {
    std::int64_t step = 0;
    StepKind kind = StepKind::Full;
    std::int64_t tokens = 0;
    std::int64_t targets = 0;
    std::string content;  ///< fingerprint of micro-batches and shards
};

/// A row of `scenarios`.
struct ScenarioRecord {
    std::int64_t id = 0;
    std::optional<std::int64_t> parent;
    std::string label;
    std::string json;
    std::int64_t createdAt = 0;
};

struct LogLine {
    std::int64_t time = 0;
    int rank = -1;
    std::string text;
};

/// The one SQLite file (.ballast) of a piece of work, formats.md "Workspace". Every program reads and writes
/// through this class; short BEGIN IMMEDIATE transactions, busy timeout 10 s. One object, one thread; open
/// another for another thread.
class Workspace {
  public:
    enum class Mode { ReadWrite, ReadOnly };
    static constexpr int kSchemaNumber = 1;  ///< user_version of files that this program writes

    /// Opens or (ReadWrite) creates. Throws Error (BadInput) for a file of another kind, a damaged one, or to
    /// write to a newer schema (that one opens ReadOnly, see isNewer()).
    static Workspace open(const std::filesystem::path& file, Mode mode);
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;
    ~Workspace();

    const std::filesystem::path& path() const;
    bool isNewer() const;
    /// The file's schema number; kSchemaNumber unless it is newer.
    int schemaNumber() const;
    /// How long a lock of another program is waited for before the Error "workspace X is busy"; 10 s unless
    /// set.
    void setPatience(std::chrono::milliseconds patience);
    /// <workspace>.runs/<id>
    std::filesystem::path runDirectory(RunId run) const;
    /// SQLite's integrity_check and foreign_key_check: empty when all is well.
    std::vector<std::string> integrityProblems() const;

    std::int64_t addPlan(const PlanHeader& header, const std::vector<PlanStep>& steps,
                         const std::vector<Discard>& discards);
    PlanRecord plan(std::int64_t plan) const;  ///< throws Error naming plan and workspace
    PlanHeader planHeader(std::int64_t plan) const;
    std::vector<Discard> planDiscards(std::int64_t plan) const;
    std::vector<PlanStep> planSteps(std::int64_t plan) const;
    std::vector<PlanStepRecord> planStepRecords(std::int64_t plan) const;
    std::vector<MicroBatchRecord> microBatches(std::int64_t plan) const;

    RunId addRun(const RunRecord& run);
    std::vector<RunRecord> runs() const;
    RunRecord run(RunId id) const;  ///< throws Error naming id and workspace
    void setRunState(RunId id, RunState state, const std::string& failure = {});
    void setPrediction(RunId id, RunId prediction);

    /// A step with all its spans, in one transaction; replaces a partial one of the same number.
    void addStep(RunId run, const StepRecord& step, const StepTimeline& timeline,
                 const std::vector<RankStepRecord>& ranks);
    std::vector<StepRecord> steps(RunId run) const;
    std::vector<StepRecord> stepsAfter(RunId run, std::int64_t rowId) const;
    StepTimeline stepTimeline(RunId run, std::int64_t step) const;
    std::vector<RankStepRecord> rankSteps(RunId run) const;

    void addLog(RunId run, const std::vector<LogLine>& lines);
    std::vector<LogLine> log(RunId run) const;

    /// Scenarios as a tree of what-ifs; parent absent for a root. The newest is what the studio opens.
    std::int64_t addScenario(const std::string& json, std::optional<std::int64_t> parent,
                             const std::string& label);
    std::optional<std::string> latestScenario() const;
    std::vector<ScenarioRecord> scenarios() const;

  private:
    struct State;
    explicit Workspace(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace ballast
