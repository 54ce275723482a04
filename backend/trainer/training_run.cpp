// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/training_run.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "backend/comm/agreement.h"
#include "backend/comm/pairwise_communicator.h"
#include "backend/trainer/trainer.h"
#include "core/dispatch/run_directory.h"
#include "core/plan/plan_file.h"

namespace ballast::backend {

namespace {

/// "planted_delay": {"rank": 1, "step": 3, "milliseconds": 200} of run.json, a test of the profile.
std::optional<PlantedDelay> plantedDelay(const std::filesystem::path& file) {
    std::ifstream stream(file);
    const nlohmann::json job = nlohmann::json::parse(stream, nullptr, false);
    if (!job.is_object() || !job.contains("planted_delay"))
        return std::nullopt;
    try {
        const nlohmann::json& delay = job.at("planted_delay");
        return PlantedDelay{delay.at("rank").get<int>(), delay.at("step").get<std::int64_t>(),
                            delay.at("milliseconds").get<std::int64_t>()};
    } catch (const nlohmann::json::exception&) {
        throw Error(
            fmt::format("{}: key 'planted_delay': expected rank, step and milliseconds", file.string()));
    }
}

Clock clockOf(const TrainJob& job, const std::filesystem::path& file) {
    if (job.clock == clockName(Clock::Wall))
        return Clock::Wall;
    if (job.clock == clockName(Clock::Virtual))
        return Clock::Virtual;
    throw Error(
        fmt::format("{}: key 'clock': found '{}', expected wall or virtual", file.string(), job.clock));
}

/// Everything a rank opens before the first step; any of it may fail on one rank alone.
struct OpenedJob {
    OpenedJob(const RunDirectory& directory, int rank)
        : job(directory.readJob()),
          delay(plantedDelay(directory.path() / "run.json")),
          clock(clockOf(job, directory.path() / "run.json")),
          plan(job.plan.empty() ? directory.planFile() : directory.path() / job.plan),
          cost(plan.header().scenario, plan.header().model, plan.header().cluster),
          tokens(openTokenSource(plan.header().scenario.lengths, plan.header().model.vocabularySize)),
          spool(directory.spoolFile(rank), rank) {
        const Scenario& scenario = plan.header().scenario;
        refuseUnbuilt(scenario, "ballast-train");
        if (job.device != "cpu")
            throw Error(fmt::format("ballast-train: device={} is not built yet; use cpu", job.device));
        if (scenario.precision == "bf16")
            throw Error("ballast-train: precision=bf16 needs device cuda; use auto or fp32");
        directory.recordProcess(RunProcess::current(rank));
        if (job.exportStep && rank == 0)
            std::filesystem::create_directories(job.exportDirectory);
    }

    TrainJob job;
    std::optional<PlantedDelay> delay;
    Clock clock;
    PlanReader plan;
    CostModel cost;
    std::unique_ptr<TokenSource> tokens;
    SpoolWriter spool;
};

void printStep(int rank, const StepReport& report, Clock clock) {
    if (rank == 0) {
        const std::string loss =
            report.targets > 0 ? fmt::format("{:.9f}", report.lossSum / static_cast<double>(report.targets))
                               : "none (no targets)";
        fmt::print(
            "step {}: loss {}, {} tokens, {} targets, gradient norm {:.6g}, rate {:.6g}, {:.6f} s "
            "({} clock)\n",
            report.step, loss, report.tokens, report.targets, report.gradientNorm, report.learningRate,
            toSeconds(report.end - report.begin).value(), clockName(clock));
    }
    fmt::print("rank {}: step {} finished\n", rank, report.step);
    std::fflush(stdout);
}

class TrainingRun {
  public:
    TrainingRun(const RunDirectory& directory, Transport& transport, Communicator& world)
        : directory_(directory), world_(world) {
        agree(world, [&] {
            job_.emplace(directory, transport.rank());
            return Standing{};
        });
        const Scenario& scenario = job_->plan.header().scenario;
        agree(world, [&] {
            // What the constructor below refuses, found before it, while all can still agree.
            const ProcessGroups groups(transport, job_->cost.layout());
            rankShape(job_->cost.model(), groups.layout(), groups.coordinate().tp);
            return Standing{};
        });
        trainer_ = std::make_unique<Trainer>(
            TrainerSetup{scenario, job_->cost, *job_->tokens, job_->clock, job_->delay, false}, transport);
    }

    void run() {
        PreparedStep next;
        while (enterStep(next)) {
            trained_ = trainer_->run(next, [&] { exportBefore(next.step); });
            exportAfter(next.step);
        }
        directory_.writeRankEnd(world_.rank(), true,
                                stopped_ ? fmt::format("stopped on request after {} steps", steps_)
                                         : fmt::format("{} steps", steps_));
        world_.barrier();
    }

  private:
    /// Ends the step before and prepares the next one; false when there is none or a stop is wanted.
    bool enterStep(PreparedStep& next) {
        const Standing all = agree(world_, [&] {
            Standing standing;
            if (failure_)
                std::rethrow_exception(failure_);
            if (trained_) {
                job_->spool.append(trained_->report, trained_->spans);
                ++steps_;
                printStep(world_.rank(), trained_->report, job_->clock);
                trained_.reset();
            }
            standing.wantsStop = directory_.stopRequested();
            const std::optional<PlanStep> planned = job_->plan.next();
            standing.hasWork = planned.has_value();
            if (planned && !standing.wantsStop)
                next = trainer_->prepare(*planned);
            return standing;
        });
        stopped_ = all.wantsStop && all.hasWork;
        return all.hasWork && !all.wantsStop;
    }

    bool exports(std::int64_t step) const { return job_->job.exportStep == step; }

    /// A file that rank 0 cannot write must not leave the others waiting: it is brought to the agreement.
    void exportTo(Parameters::Kind kind, const char* name) {
        try {
            trainer_->exportTo(
                kind, std::filesystem::path(job_->job.exportDirectory) / fmt::format("{}.safetensors", name));
        } catch (const Error&) {
            failure_ = std::current_exception();
        }
    }
    void exportBefore(std::int64_t step) {
        if (!exports(step))
            return;
        exportTo(Parameters::Kind::Weights, "weights_before");
        exportTo(Parameters::Kind::Gradients, "gradients");
    }
    void exportAfter(std::int64_t step) {
        if (!exports(step))
            return;
        exportTo(Parameters::Kind::Weights, "weights_after");
        exportTo(Parameters::Kind::FirstMoment, "first_moment");
        exportTo(Parameters::Kind::SecondMoment, "second_moment");
    }

    const RunDirectory& directory_;
    Communicator& world_;
    std::optional<OpenedJob> job_;
    std::unique_ptr<Trainer> trainer_;
    std::optional<TrainedStep> trained_;
    std::exception_ptr failure_;
    std::int64_t steps_ = 0;
    bool stopped_ = false;
};

}  // namespace

void runTraining(const std::filesystem::path& runDirectory, Transport& transport) {
    const RunDirectory directory(runDirectory);
    std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    PairwiseCommunicator world(transport, ranks);
    TrainingRun(directory, transport, world).run();
}

}  // namespace ballast::backend
