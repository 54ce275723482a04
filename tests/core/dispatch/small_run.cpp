// SPDX-License-Identifier: Apache-2.0
#include "tests/core/dispatch/small_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/dispatch/run_processes.h"
#include "core/plan/plan_file.h"
#include "tests/support/builders.h"

namespace ballast::testing {
namespace {

PlanHeader smallHeader() {
    PlanHeader header;
    header.scenario = tinyScenario();
    header.scenario.layout = {1, 1, SmallRun::kRanks, 1};
    header.scenario.microBatches = 1;
    header.model = tinyModel();
    header.cluster = tinyCluster();
    header.chosen = {{}, 1024};
    return header;
}

/// One micro-batch of one piece for every dp rank.
PlanStep smallStep(std::int64_t number) {
    PlanStep step;
    step.step = number;
    for (int dp = 0; dp < SmallRun::kRanks; ++dp) {
        const std::int64_t document = number * SmallRun::kRanks + dp;
        const std::int64_t length = 100 + 10 * dp;
        PlannedMicroBatch planned;
        planned.batch.dp = dp;
        planned.batch.pieces = {{document, 0, length, number, document}};
        planned.batch.tokens = length;
        planned.batch.work = static_cast<double>(length);
        planned.sharding = {"per-sequence", {{{document, 0, length, 0, length}}}};
        step.microBatches.push_back(std::move(planned));
    }
    return step;
}

}  // namespace

SmallRun::SmallRun(int steps, int stepMilliseconds, const std::string& fault)
    : file_(folder_ / "job.ballast") {
    Workspace workspace = Workspace::open(file_, Workspace::Mode::ReadWrite);
    const PlanHeader header = smallHeader();
    std::vector<PlanStep> plan;
    for (int step = 0; step < steps; ++step)
        plan.push_back(smallStep(step));
    RunRecord run;
    run.clock = Clock::Virtual;
    run.layout = header.scenario.layout;
    run.name = "small";
    run.scenario = scenarioJson(header.scenario);
    run.plan = workspace.addPlan(header, plan, {});
    run.host = RunProcess::current(0).host;
    run.plannedSteps = steps;
    id_ = workspace.addRun(run);

    const RunDirectory runDirectory = directory();
    TrainJob job;
    job.scenario = run.scenario;
    job.plan = "plan";
    job.arguments = {std::string(BALLAST_BIN_DIR) + "/fake_ranks",
                     std::to_string(kRanks),
                     std::to_string(stepMilliseconds),
                     fault,
                     "--run-directory",
                     runDirectory.path().string()};
    runDirectory.create(job);
    PlanWriter writer(runDirectory.planFile(), header);
    for (const PlanStep& step : plan)
        writer.write(step);
    writer.finish({});
}

SmallRun::~SmallRun() {
    endProcesses(directory(), std::chrono::milliseconds(0));
}

RunDirectory SmallRun::directory() const {
    return RunDirectory(reader().runDirectory(id_));
}

int SmallRun::startSupervisor() const {
    const int pid = ::fork();
    if (pid != 0)
        return pid;
    try {
        ::_exit(static_cast<int>(superviseRun(file_, id_)));
    } catch (const Error& error) {
        fmt::print(stderr, "supervisor: {}\n", error.what());
        ::_exit(100);
    }
}

std::optional<RunState> SmallRun::waitFor(int supervisor) {
    int status = 0;
    if (::waitpid(supervisor, &status, 0) != supervisor || !WIFEXITED(status) || WEXITSTATUS(status) >= 100)
        return std::nullopt;
    return static_cast<RunState>(WEXITSTATUS(status));
}

void SmallRun::kill(int supervisor) {
    ::kill(supervisor, SIGKILL);
    ::waitpid(supervisor, nullptr, 0);
}

std::int64_t SmallRun::wholeSteps() const {
    std::int64_t whole = 0;
    for (const StepRecord& step : reader().steps(id_)) {
        if (!step.complete)
            continue;
        EXPECT_EQ(step.step, whole);
        EXPECT_EQ(reader().stepTimeline(id_, step.step).ranks.size(), static_cast<std::size_t>(kRanks));
        ++whole;
    }
    return whole;
}

int SmallRun::partialSteps() const {
    int partial = 0;
    for (const StepRecord& step : reader().steps(id_))
        partial += step.complete ? 0 : 1;
    return partial;
}

bool SmallRun::waitUntil(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

bool SmallRun::nothingLeft() const {
    for (const RunProcess& process : directory().processes())
        if (process.rank != kRunnerRank && process.alive())
            return false;
    return startedFor(directory()).empty();
}

}  // namespace ballast::testing
