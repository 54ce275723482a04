// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/kill/killed_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/dispatch/run_processes.h"
#include "core/timeline/span_file.h"
#include "tests/support/builders.h"

namespace ballast::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::int64_t nowMilliseconds() {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool hasEnded(RunState state) {
    return state == RunState::Done || state == RunState::Stopped || state == RunState::Failed;
}

/// Steps of some tens of milliseconds: long enough to be hit inside, short enough for dozens of runs.
Scenario killScenario(const TemporaryDirectory& folder) {
    std::string lengths;
    for (int document = 0; document < 1600; ++document)
        lengths += fmt::format("{}\n", 64 + document * 37 % 449);
    Scenario scenario;
    scenario.lengths.source = {folder.write("lengths.txt", lengths).string()};
    scenario.lengths.window = 1024;
    scenario.model =
        folder
            .write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 128,
        "vocab_size": 256, "rope_theta": 10000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": false})")
            .string();
    scenario.cluster = folder.write("cluster.json", clusterSpecJson(tinyCluster())).string();
    scenario.layout = {1, 2, 1, 2};
    scenario.microBatches = 2;
    scenario.packing.strategy = "sequential";
    scenario.sharding.strategy = "per-document";
    return scenario;
}

}  // namespace

const char* momentName(Moment moment) {
    switch (moment) {
        case Moment::StartUp:
            return "start-up";
        case Moment::Forward:
            return "forward";
        case Moment::Collective:
            return "collective";
        case Moment::StepEnd:
            return "step end";
        case Moment::ShutDown:
            return "shutdown";
    }
    return "";
}

KilledRun::KilledRun(Random& random) : random_(random), file_(folder_ / "job.ballast") {
    RunRequest request;
    request.scenario = killScenario(folder_);
    request.workspace = file_;
    request.steps = kSteps;
    request.clock = "wall";
    id_ = prepareRun(request);
    plannedSteps_ = reader().run(id_).plannedSteps;
    studio_ = ::fork();
    if (studio_ == 0) {
        try {
            startRunner(file_, id_);
            followRun(file_, id_, {});
        } catch (const Error& error) {
            fmt::print(stderr, "follower: {}\n", error.what());
        }
        ::_exit(0);
    }
}

KilledRun::~KilledRun() {
    killStudio();
    endProcesses(directory(), milliseconds(0));
}

RunDirectory KilledRun::directory() const {
    return RunDirectory(reader().runDirectory(id_));
}

RunState KilledRun::state() const {
    return reader().run(id_).state;
}

std::string KilledRun::failure() const {
    return reader().run(id_).failure;
}

std::vector<RunProcess> KilledRun::trainers() const {
    std::vector<RunProcess> trainers;
    int launcher = 0;
    for (const RunProcess& process : directory().processes())
        if (process.rank == kMpirunRank)
            launcher = process.pid;
    for (RunProcess& process : startedFor(directory()))
        if (process.pid != launcher)
            trainers.push_back(std::move(process));
    return trainers;
}

bool KilledRun::waitUntil(const std::function<bool()>& condition) const {
    const auto until = steady_clock::now() + std::chrono::seconds(60);
    const Workspace workspace = reader();
    while (!condition()) {
        if (hasEnded(workspace.run(id_).state))
            return false;
        if (steady_clock::now() > until) {
            ADD_FAILURE() << "nothing has happened for 60 s";
            return false;
        }
        std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
}

void KilledRun::pause(double seconds) const {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

void KilledRun::waitFor(Moment moment) {
    if (moment == Moment::StartUp) {
        // Anywhere from the runner's first moment to the first step.
        waitUntil([&] { return directory().readState().has_value(); });
        const double soon = random_.uniform();
        const auto until = steady_clock::now() + std::chrono::duration<double>(0.2 * soon * soon);
        const std::filesystem::path spool = directory().spoolFile(0);
        std::error_code problem;
        waitUntil([&] {
            const std::uintmax_t bytes = std::filesystem::file_size(spool, problem);
            return steady_clock::now() >= until || (!problem && bytes > 0);
        });
        return;
    }
    if (moment == Moment::ShutDown) {
        waitUntil([&] { return shutsDown(); });
        return;
    }
    // Rank 0 writes its spool at the end of a step: a step's length, and where the next one begins.
    const std::int64_t wanted = 2 + static_cast<std::int64_t>(random_.below(kSteps / 4));
    SpoolReader spool(directory().spoolFile(0), 0);
    std::int64_t steps = 0;
    auto last = steady_clock::now();
    double stepSeconds = 1;
    const auto stepsReached = [&] {
        for (; spool.next(); last = steady_clock::now()) {
            // The shortest of them: on a busy machine one step may take as long as all the others.
            if (++steps > 1)
                stepSeconds =
                    std::min(stepSeconds, std::chrono::duration<double>(steady_clock::now() - last).count());
        }
        return steps >= wanted;
    };
    if (!waitUntil(stepsReached))
        return;
    if (moment == Moment::Forward)
        pause(stepSeconds * 0.3 * random_.uniform());
    if (moment == Moment::Collective)
        pause(stepSeconds * (0.5 + 0.5 * random_.uniform()));
}

bool KilledRun::shutsDown() const {
    for (int rank = 0; rank < kRanks; ++rank)
        if (const auto end = directory().rankEnd(rank); end && end->ok)
            return true;
    return false;
}

void KilledRun::killProcess(const std::function<bool(const RunProcess&)>& isVictim) {
    for (const RunProcess& process : directory().processes())
        if (isVictim(process))
            process.signal(SIGKILL);
    killedAt_ = nowMilliseconds();
}

void KilledRun::killRank() {
    // In start-up no rank may be there yet; a rank that has not recorded itself is as good a victim.
    waitUntil([&] { return !trainers().empty() || directory().rankEnd(0); });
    const std::vector<RunProcess> there = trainers();
    if (!there.empty())
        there[random_.below(there.size())].signal(SIGKILL);
    killedAt_ = nowMilliseconds();
}

void KilledRun::killLauncher() {
    waitUntil([&] {
        const std::vector<RunProcess> processes = directory().processes();
        return std::ranges::any_of(processes,
                                   [](const RunProcess& each) { return each.rank == kMpirunRank; });
    });
    killProcess([](const RunProcess& process) { return process.rank == kMpirunRank; });
}

void KilledRun::killRunner() {
    killProcess([](const RunProcess& process) { return process.rank == kRunnerRank; });
}

void KilledRun::killStudio() {
    if (studio_ == 0)
        return;
    ::kill(studio_, SIGKILL);
    ::waitpid(studio_, nullptr, 0);
    studio_ = 0;
    killedAt_ = nowMilliseconds();
}

int KilledRun::attach() {
    const int pid = startDetached(
        {std::string(BALLAST_BIN_DIR) + "/ballast", "run", "--attach", directory().path().string()},
        folder_ / "attach.log");
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0)
        fmt::print(
            "{}\n",
            std::string(std::istreambuf_iterator<char>(std::ifstream(folder_ / "attach.log").rdbuf()), {}));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

RunState KilledRun::endWithin(int seconds) {
    while (!hasEnded(state()) && nowMilliseconds() - killedAt_ < seconds * 1000)
        std::this_thread::sleep_for(milliseconds(20));
    return state();
}

std::int64_t KilledRun::wholeSteps() const {
    std::int64_t whole = 0;
    for (const StepRecord& step : reader().steps(id_))
        whole += step.complete ? 1 : 0;
    return whole;
}

std::int64_t KilledRun::stepsLoggedByAll() const {
    std::int64_t fewest = plannedSteps_;
    for (int rank = 0; rank < kRanks; ++rank) {
        std::int64_t logged = 0;
        std::ifstream log(directory().logFile("launcher.log"));
        const std::string words = fmt::format("rank {}: step ", rank);
        for (std::string line; std::getline(log, line);)
            if (line.find(words) != std::string::npos && line.ends_with(" finished"))
                ++logged;
        fewest = std::min(fewest, logged);
    }
    return fewest;
}

void KilledRun::expectSound() const {
    const Workspace workspace = reader();
    EXPECT_EQ(workspace.integrityProblems(), std::vector<std::string>());
    std::set<std::int64_t> whole;
    int partial = 0;
    for (const StepRecord& step : workspace.steps(id_)) {
        if (!step.complete) {
            ++partial;
            continue;
        }
        EXPECT_TRUE(whole.insert(step.step).second) << "step " << step.step << " is there twice";
        const StepTimeline timeline = workspace.stepTimeline(id_, step.step);
        EXPECT_EQ(timeline.ranks.size(), static_cast<std::size_t>(kRanks));
        for (const RankSpans& rank : timeline.ranks)
            EXPECT_FALSE(rank.spans.empty()) << "rank " << rank.rank << " in step " << step.step;
    }
    EXPECT_LE(partial, 1);
    std::int64_t spooled = plannedSteps_;
    for (int rank = 0; rank < kRanks; ++rank) {
        SpoolReader spool(directory().spoolFile(rank), rank);
        std::int64_t steps = 0;
        while (spool.next())
            ++steps;
        spooled = std::min(spooled, steps);
    }
    EXPECT_EQ(std::ssize(whole), spooled);
    EXPECT_GE(std::ssize(whole), stepsLoggedByAll());
    for (const RunProcess& process : directory().processes()) {
        EXPECT_TRUE(process.rank == kRunnerRank || !process.alive())
            << "rank " << process.rank << " still lives";
    }
    EXPECT_TRUE(startedFor(directory()).empty());
    EXPECT_TRUE(std::filesystem::exists(directory().path() / "pids.json"));
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(directory().path() / "scratch")));
}

}  // namespace ballast::testing
