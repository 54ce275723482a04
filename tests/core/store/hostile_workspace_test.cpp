// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "tests/core/store/random_work.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

using namespace ballast::testing;

std::string bytesOf(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

void sql(const std::filesystem::path& file, const char* statements) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statements, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
}

/// The sentence with which a file is refused; empty when it opens.
std::string refusal(const std::filesystem::path& file, Workspace::Mode mode) {
    try {
        Workspace::open(file, mode);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::BadInput);
        return error.what();
    }
    return {};
}

/// Opens and reads whatever is there: an Error is an answer, a crash is not.
void readEverything(const std::filesystem::path& file) {
    try {
        const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
        for (const RunRecord& run : workspace.runs()) {
            workspace.rankSteps(run.id);
            workspace.log(run.id);
            for (const StepRecord& step : workspace.steps(run.id))
                workspace.stepTimeline(run.id, step.step);
            if (run.plan) {
                workspace.microBatches(*run.plan);
                workspace.planHeader(*run.plan);
                workspace.planSteps(*run.plan);
            }
        }
        workspace.scenarios();
    } catch (const Error&) {
    }
}

std::filesystem::path smallWorkspace(const TemporaryDirectory& folder) {
    std::filesystem::path file = folder / "good.ballast";
    Random random(21);
    Workspace workspace = Workspace::open(file, Workspace::Mode::ReadWrite);
    RunRecord run = measuredRun({1, 1, 1, 2});
    run.plan = workspace.addPlan(tinyHeader(), {randomPlanStep(random, 0, {1, 1, 1, 2}, 2)}, {});
    const RunId id = workspace.addRun(run);
    for (std::int64_t step = 0; step < 3; ++step)
        workspace.addStep(id, {.step = step}, randomTimeline(random, step, 2),
                          {randomRankStep(random, step, 0), randomRankStep(random, step, 1)});
    workspace.addLog(id, {{1, 0, "a line"}});
    workspace.addScenario("{}", std::nullopt, "root");
    return file;
}

TEST(HostileWorkspace, RefusesFilesOfAnotherKindUntouched) {
    TemporaryDirectory folder;
    sql(folder / "foreign.db", "CREATE TABLE photos (id INTEGER PRIMARY KEY); INSERT INTO photos VALUES (1)");
    sql(folder / "wal.db", "PRAGMA journal_mode = WAL; CREATE TABLE photos (id INTEGER PRIMARY KEY)");
    folder.write("text.txt", "just some words, far from being any database at all");
    folder.write("empty.ballast", "");
    folder.write("short.ballast", std::string("SQLite format 3\0", 16));
    for (const char* name : {"foreign.db", "wal.db", "text.txt", "empty.ballast", "short.ballast"}) {
        const std::string before = bytesOf(folder / name);
        for (const Workspace::Mode mode : {Workspace::Mode::ReadOnly, Workspace::Mode::ReadWrite}) {
            const std::string sentence = refusal(folder / name, mode);
            EXPECT_NE(sentence.find(name), std::string::npos) << sentence;
            EXPECT_NE(sentence.find("expected"), std::string::npos) << sentence;
        }
        EXPECT_EQ(bytesOf(folder / name), before) << name;
        EXPECT_FALSE(std::filesystem::exists(folder / (std::string(name) + "-wal")));
    }
    EXPECT_FALSE(refusal(folder / "missing.ballast", Workspace::Mode::ReadOnly).empty());
    EXPECT_FALSE(std::filesystem::exists(folder / "missing.ballast"));
    EXPECT_FALSE(refusal(folder.path(), Workspace::Mode::ReadWrite).empty());
}

TEST(HostileWorkspace, ReadsANewerFileAndNeverWritesIt) {
    TemporaryDirectory folder;
    const std::filesystem::path file = smallWorkspace(folder);
    sql(file, "PRAGMA user_version = 2; ALTER TABLE runs ADD COLUMN colour TEXT");
    const std::string before = bytesOf(file);
    const std::string sentence = refusal(file, Workspace::Mode::ReadWrite);
    EXPECT_NE(sentence.find("newer"), std::string::npos) << sentence;
    Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    EXPECT_TRUE(workspace.isNewer());
    EXPECT_EQ(workspace.schemaNumber(), 2);
    EXPECT_EQ(workspace.runs().size(), 1u);
    EXPECT_THROW(workspace.setRunState(1, RunState::Done), Error);
    EXPECT_EQ(bytesOf(file), before);
}

TEST(HostileWorkspace, SaysWhereATruncatedFileEnds) {
    TemporaryDirectory folder;
    const std::filesystem::path file = smallWorkspace(folder);
    const std::string whole = bytesOf(file);
    Random random(22);
    for (int round = 0; round < 60; ++round) {
        const std::size_t size = random.below(whole.size());
        const std::filesystem::path cut =
            folder.write("cut.ballast", std::string_view(whole).substr(0, size));
        const std::string sentence = refusal(cut, Workspace::Mode::ReadOnly);
        EXPECT_NE(sentence.find("cut.ballast"), std::string::npos) << size << " " << sentence;
        EXPECT_EQ(bytesOf(cut).size(), size);
    }
}

TEST(HostileWorkspace, NeverCrashesOnFlippedBits) {
    TemporaryDirectory folder;
    const std::string whole = bytesOf(smallWorkspace(folder));
    Random random(23);
    for (int round = 0; round < 400; ++round) {
        std::string broken = whole;
        // Half of the flips hit the header, the schema and the tops of pages, where one bit matters most.
        const std::size_t page = random.below(whole.size() / 4096) * 4096;
        for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips) {
            const std::size_t at = round % 2 ? random.below(whole.size()) : page + random.below(200);
            broken[at] = static_cast<char>(broken[at] ^ (1 << random.below(8)));
        }
        readEverything(folder.write("broken.ballast", broken));
    }
}

TEST(HostileWorkspace, RefusesValuesThatNoEnumerationHas) {
    TemporaryDirectory folder;
    const std::filesystem::path file = smallWorkspace(folder);
    sql(file, "UPDATE runs SET state = 77; UPDATE spans SET kind = 99 WHERE step = 1");
    const Workspace workspace = Workspace::open(file, Workspace::Mode::ReadOnly);
    EXPECT_THROW(workspace.runs(), Error);
    EXPECT_NO_THROW(workspace.stepTimeline(1, 0));
    EXPECT_THROW(workspace.stepTimeline(1, 1), Error);
    EXPECT_FALSE(workspace.integrityProblems().empty());
}

TEST(HostileWorkspace, RefusesALayoutThatWouldSizeALoop) {
    TemporaryDirectory folder;
    const std::filesystem::path file = smallWorkspace(folder);
    sql(file, "UPDATE runs SET tp = 1000000, cp = 1000000");
    EXPECT_THROW(Workspace::open(file, Workspace::Mode::ReadOnly).runs(), Error);
}

}  // namespace
}  // namespace ballast
