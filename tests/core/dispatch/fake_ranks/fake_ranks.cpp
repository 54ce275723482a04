// SPDX-License-Identifier: Apache-2.0
// fake-ranks RANKS STEP_MS FAULT --run-directory DIR: a launcher that forks RANKS processes, which write the
// spool of DIR's plan as ballast-train does, step by step in lockstep, without training anything. FAULT:
// none, or kill:RANK:STEP (the rank kills itself in the step), error:RANK:STEP (it says why and goes), start
// (mpirun's child that never comes up).
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/dispatch/run_directory.h"
#include "core/plan/plan_file.h"
#include "core/timeline/span_file.h"

namespace {

using namespace ballast;

/// Arrivals of all ranks, in memory that they share: step s begins once every rank has arrived s + 1 times.
struct Meeting {
    std::atomic<int> arrived{0};
    /// Rank 0 alone looks at the stop flag and says so before it arrives, so that all ranks stop before the
    /// same step.
    std::atomic<std::int64_t> stopBefore{std::numeric_limits<std::int64_t>::max()};
};

void meet(Meeting& meeting, int ranks, std::int64_t step) {
    ++meeting.arrived;
    while (meeting.arrived < ranks * (step + 1))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct Fault {
    std::string kind = "none";
    int rank = -1;
    std::int64_t step = -1;
};

Fault parseFault(const std::string& text) {
    Fault fault;
    const std::size_t first = text.find(':');
    fault.kind = text.substr(0, first);
    if (first != std::string::npos) {
        const std::size_t second = text.find(':', first + 1);
        fault.rank = std::atoi(text.c_str() + first + 1);
        fault.step = std::atoi(text.c_str() + second + 1);
    }
    return fault;
}

struct Job {
    int ranks;
    int stepMilliseconds;
    Fault fault;
    RunDirectory directory;
};

[[noreturn]] void runRank(const Job& job, int rank, Meeting& meeting) {
    job.directory.recordProcess(RunProcess::current(rank));
    SpoolWriter spool(job.directory.spoolFile(rank), rank);
    PlanReader plan(job.directory.planFile());
    std::int64_t steps = 0;
    while (std::optional<PlanStep> step = plan.next()) {
        if (rank == 0 && job.directory.stopRequested())
            meeting.stopBefore = steps;
        meet(meeting, job.ranks, steps);
        if (steps >= meeting.stopBefore)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(job.stepMilliseconds));
        const bool faulty = job.fault.rank == rank && job.fault.step == step->step;
        if (faulty && job.fault.kind == "kill")
            ::kill(::getpid(), SIGKILL);
        if (faulty && job.fault.kind == "error") {
            job.directory.writeRankEnd(rank, false, "ran out of patience");
            ::_exit(1);
        }
        StepReport report;
        report.step = step->step;
        report.begin = step->step * 1'000'000;
        report.end = report.begin + 1'000'000;
        report.tokens = step->tokens();
        report.targets = step->targets();
        report.lossSum = 5.0 * static_cast<double>(report.targets);
        Span span;
        span.kind = SpanKind::LinearForward;
        span.begin = span.waitingUntil = report.begin;
        span.end = report.end;
        spool.append(report, {span});
        fmt::print(stderr, "[1,{}]<stdout>:rank {}: step {} finished\n", rank, rank, step->step);
        ++steps;
    }
    job.directory.writeRankEnd(rank, true, fmt::format("{} steps", steps));
    ::_exit(0);
}

/// As mpirun: the first rank that dies takes the others with it.
int superviseRanks(const std::vector<int>& children) {
    for (std::size_t left = children.size(); left > 0; --left) {
        int status = 0;
        const int pid = ::wait(&status);
        if (status == 0)
            continue;
        for (std::size_t rank = 0; rank < children.size(); ++rank) {
            if (children[rank] == pid && WIFSIGNALED(status))
                fmt::print(stderr,
                           "mpirun noticed that process rank {} with PID 0 on node here exited on signal 9\n",
                           rank);
            ::kill(children[rank], SIGTERM);
        }
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argumentCount, char** arguments) {
    if (argumentCount != 6)
        return 2;
    const Job job{std::atoi(arguments[1]), std::atoi(arguments[2]), parseFault(arguments[3]),
                  RunDirectory(arguments[5])};
    if (job.fault.kind == "start")
        return 3;
    void* shared =
        ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    auto* meeting = new (shared) Meeting;
    std::vector<int> children;
    for (int rank = 0; rank < job.ranks; ++rank) {
        const int pid = ::fork();
        if (pid == 0)
            runRank(job, rank, *meeting);
        children.push_back(pid);
    }
    return superviseRanks(children);
}
