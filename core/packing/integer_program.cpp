// SPDX-License-Identifier: Apache-2.0
#include "core/packing/integer_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/error.h"

extern char** environ;

namespace ballast {
namespace {

/// Removed with everything in it.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "ballast-solver-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw Error(fmt::format("{}: cannot be created: {}", pattern, std::strerror(errno)),
                        ErrorCode::WorkFailed);
        path_ = pattern;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

/// Writes the program and reads its answer. Bins are alike, so piece i may as well be in one of the first i +
/// 1: the bins stand in the order of their first pieces.
class ProgramText {
  public:
    explicit ProgramText(const PackingProgram& program) : program_(program) {
        std::int64_t total = 0;
        std::int64_t largest = 1;
        for (const WeighedPiece& piece : program.pieces) {
            total += pairsOf(piece);
            largest = std::max(largest, pairsOf(piece));
        }
        // Numbers near 1 keep the solver's tolerances meaningful.
        scale_ = std::max(static_cast<double>(largest),
                          static_cast<double>(total) / static_cast<double>(program.bins));
    }

    void write(const std::filesystem::path& file) const {
        std::ofstream out(file);
        const bool minimisePairs = program_.placedTokens.has_value();
        out << (minimisePairs ? "Minimize\n obj: z\n" : "Maximize\n obj: ");
        if (!minimisePairs)
            writeSum(out, [](const WeighedPiece& piece) { return fmt::to_string(piece.piece.length()); });
        out << "Subject To\n";
        for (std::size_t piece = 0; piece < program_.pieces.size(); ++piece)
            writeOnce(out, piece);
        for (std::size_t bin = 0; bin < program_.bins; ++bin)
            writeBin(out, bin);
        if (minimisePairs) {
            out << " placed: ";
            writeSum(out, [](const WeighedPiece& piece) { return fmt::to_string(piece.piece.length()); });
            out << " >= " << *program_.placedTokens << "\n";
        }
        out << "Binary\n";
        forEachChoice([&](std::size_t piece, std::size_t bin) { out << ' ' << name(piece, bin) << '\n'; });
        out << "End\n";
    }

    void writeStart(const std::filesystem::path& file) const {
        std::ofstream out(file);
        out << "Stopped - objective value 0\n";
        const BinAssignment start = inOrderOfFirstPieces(program_.start);
        std::size_t line = 0;
        for (std::size_t piece = 0; piece < start.size(); ++piece)
            if (start[piece] != kNoBin)
                out << line++ << ' ' << name(piece, static_cast<std::size_t>(start[piece])) << " 1 0\n";
    }

    /// Nothing when the file holds no answer that keeps the limits.
    std::optional<ProgramAnswer> read(const std::filesystem::path& file) const {
        std::ifstream in(file);
        std::string status;
        if (!std::getline(in, status) || status.find("nfeasible") != std::string::npos)
            return std::nullopt;
        ProgramAnswer answer{BinAssignment(program_.pieces.size(), kNoBin), status.starts_with("Optimal")};
        for (std::string line; std::getline(in, line);)
            readChoice(line, answer.assignment);
        if (!keepsLimits(answer.assignment))
            return std::nullopt;
        return answer;
    }

  private:
    static std::int64_t pairsOf(const WeighedPiece& piece) {
        return attentionPairs({piece.piece.length(), 0});
    }
    static std::string name(std::size_t piece, std::size_t bin) { return fmt::format("x{}_{}", piece, bin); }
    std::size_t choices(std::size_t piece) const { return std::min(piece + 1, program_.bins); }

    template <class Action>
    void forEachChoice(Action action) const {
        for (std::size_t piece = 0; piece < program_.pieces.size(); ++piece)
            for (std::size_t bin = 0; bin < choices(piece); ++bin)
                action(piece, bin);
    }

    template <class Coefficient>
    void writeSum(std::ostream& out, Coefficient coefficient) const {
        forEachChoice([&](std::size_t piece, std::size_t bin) {
            out << " + " << coefficient(program_.pieces[piece]) << ' ' << name(piece, bin) << '\n';
        });
    }

    void writeOnce(std::ostream& out, std::size_t piece) const {
        out << " once" << piece << ':';
        for (std::size_t bin = 0; bin < choices(piece); ++bin)
            out << " + " << name(piece, bin) << '\n';
        out << " <= 1\n";
    }

    void writeBin(std::ostream& out, std::size_t bin) const {
        const MicroBatchLimits& limits = program_.limits;
        if (bin >= program_.pieces.size())
            return;
        writeBinSum(out, fmt::format("tokens{}", bin), bin, [&](const WeighedPiece& piece) {
            return fmt::to_string(limits.alignedLength(piece.piece.length()));
        });
        out << " <= " << limits.maxTokens << '\n';
        if (limits.maxDocuments > 0) {
            writeBinSum(out, fmt::format("documents{}", bin), bin, [](const WeighedPiece&) { return "1"; });
            out << " <= " << limits.maxDocuments << '\n';
        }
        if (program_.placedTokens) {
            writeBinSum(out, fmt::format("pairs{}", bin), bin, [&](const WeighedPiece& piece) {
                return fmt::format("{:.15g}", static_cast<double>(pairsOf(piece)) / scale_);
            });
            out << " - z <= 0\n";
        }
    }

    template <class Coefficient>
    void writeBinSum(std::ostream& out, const std::string& row, std::size_t bin,
                     Coefficient coefficient) const {
        out << ' ' << row << ':';
        for (std::size_t piece = bin; piece < program_.pieces.size(); ++piece)
            out << " + " << coefficient(program_.pieces[piece]) << ' ' << name(piece, bin) << '\n';
    }

    static BinAssignment inOrderOfFirstPieces(const BinAssignment& assignment) {
        std::vector<std::int32_t> renamed(assignment.size(), kNoBin);
        std::vector<std::int32_t> newName;
        std::int32_t next = 0;
        for (std::size_t piece = 0; piece < assignment.size(); ++piece) {
            if (assignment[piece] == kNoBin)
                continue;
            const auto bin = static_cast<std::size_t>(assignment[piece]);
            if (bin >= newName.size())
                newName.resize(bin + 1, kNoBin);
            if (newName[bin] == kNoBin)
                newName[bin] = next++;
            renamed[piece] = newName[bin];
        }
        return renamed;
    }

    /// A line "  12 x3_1   1   0"; other variables are passed over.
    void readChoice(const std::string& line, BinAssignment& assignment) const {
        std::istringstream words(line);
        std::string index;
        std::string variable;
        double value = 0;
        if (!(words >> index))
            return;
        if (index == "**" && !(words >> index))  // marks a value beside its bounds
            return;
        if (!(words >> variable >> value) || value < 0.5)
            return;
        std::size_t piece = 0;
        std::size_t bin = 0;
        int read = 0;
        if (std::sscanf(variable.c_str(), "x%zu_%zu%n", &piece, &bin, &read) == 2 &&
            static_cast<std::size_t>(read) == variable.size() && piece < assignment.size() &&
            bin < program_.bins)
            assignment[piece] = static_cast<std::int32_t>(bin);
    }

    bool keepsLimits(const BinAssignment& assignment) const {
        std::vector<std::int64_t> tokens(program_.bins);
        std::vector<std::int64_t> documents(program_.bins);
        for (std::size_t piece = 0; piece < assignment.size(); ++piece) {
            if (assignment[piece] == kNoBin)
                continue;
            const auto bin = static_cast<std::size_t>(assignment[piece]);
            const std::int64_t length = program_.pieces[piece].piece.length();
            if (!program_.limits.takes(tokens[bin], documents[bin], length))
                return false;
            tokens[bin] += program_.limits.alignedLength(length);
            ++documents[bin];
        }
        return true;
    }

    const PackingProgram& program_;
    double scale_ = 1;
};

/// Runs without a shell, without output, and no longer than `seconds` and some grace.
void runSolver(const std::string& solver, const ScratchFolder& folder, double seconds) {
    const std::string model = folder / "model.lp";
    const std::string start = folder / "start.txt";
    const std::string solution = folder / "solution.txt";
    const std::string limit = fmt::format("{:.3f}", seconds);
    const char* words[] = {solver.c_str(), model.c_str(), "-mips",  start.c_str(), "-ratio",         "1e-4",
                           "-sec",         limit.c_str(), "-solve", "-solution",   solution.c_str(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    const int problem =
        ::posix_spawn(&process, solver.c_str(), &files, nullptr, const_cast<char**>(words), environ);
    posix_spawn_file_actions_destroy(&files);
    if (problem != 0)
        throw Error(fmt::format("{}: cannot be started: {}", solver, std::strerror(problem)),
                    ErrorCode::WorkFailed);
    constexpr std::chrono::seconds kGrace(5);
    constexpr std::chrono::milliseconds kPoll(2);
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(seconds)) +
                          kGrace;
    int status = 0;
    while (::waitpid(process, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            ::kill(process, SIGKILL);
            ::waitpid(process, &status, 0);
            return;
        }
        std::this_thread::sleep_for(kPoll);
    }
}

}  // namespace

std::optional<std::string> findSolver() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path candidate = std::filesystem::path(folder) / "cbc";
        if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0)
            return candidate.string();
    }
    return std::nullopt;
}

std::optional<ProgramAnswer> solve(const PackingProgram& program, double seconds) {
    const std::optional<std::string> solver = findSolver();
    if (!solver)
        throw Error("packing.strategy=solver needs the program cbc; install the package coinor-cbc");
    const ScratchFolder folder;
    const ProgramText text(program);
    text.write(folder / "model.lp");
    text.writeStart(folder / "start.txt");
    runSolver(*solver, folder, seconds);
    return text.read(folder / "solution.txt");
}

}  // namespace ballast
