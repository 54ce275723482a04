// SPDX-License-Identifier: Apache-2.0
// Holds the table "who may include whom": folders see only lower folders, core modules only themselves and
// the modules before them, and each outside library stands in its one place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/lint/source_tree.h"

namespace ballast::lint {
namespace {

const std::map<std::string, std::set<std::string>> kFolders = {
    {"kernels", {"kernels"}},
    {"core", {"core"}},
    {"backend", {"backend", "core", "kernels"}},
    {"app", {"app", "core"}},
};

const std::vector<std::string> kCoreModules = {"base",     "job",       "workload", "cost",      "packing",
                                               "sharding", "schedule",  "timeline", "simulator", "tune",
                                               "plan",     "reproduce", "store",    "compare",   "dispatch"};

bool startsWith(const std::string& text, const std::string& prefix) {
    return text.rfind(prefix, 0) == 0;
}

std::size_t layerOf(const std::string& module) {
    return static_cast<std::size_t>(std::find(kCoreModules.begin(), kCoreModules.end(), module) -
                                    kCoreModules.begin());
}

TEST(Layers, FoldersIncludeOnlyTheFoldersBelowThem) {
    for (const SourceFile& file : sourceFiles()) {
        const auto allowed = kFolders.find(topFolder(file.path));
        if (allowed == kFolders.end())
            continue;
        for (const std::string& include : quotedIncludes(file))
            EXPECT_THAT(allowed->second, testing::Contains(topFolder(include)))
                << file.path << " includes " << include;
    }
}

TEST(Layers, CoreModulesIncludeOnlyThemselvesAndLowerOnes) {
    for (const SourceFile& file : sourceFiles()) {
        if (topFolder(file.path) != "core")
            continue;
        const std::size_t layer = layerOf(moduleFolder(file.path));
        ASSERT_LT(layer, kCoreModules.size()) << file.path << " is in no known module";
        for (const std::string& include : quotedIncludes(file))
            EXPECT_LE(layerOf(moduleFolder(include)), layer) << file.path << " includes " << include;
    }
}

TEST(Layers, EachLibraryStandsInItsOnePlace) {
    const auto isQt = [](const std::string& include) {
        return include.size() > 1 && include[0] == 'Q' && std::isupper(include[1]);
    };
    for (const SourceFile& file : sourceFiles()) {
        if (topFolder(file.path) == "tests")
            continue;
        const bool header = file.path.ends_with(".h");
        for (const std::string& include : angleIncludes(file)) {
            const std::string edge = file.path + " includes " + include;
            if (include == "mpi.h") {
                EXPECT_EQ(topFolder(file.path), "backend") << edge;
            }
            if (include == "sqlite3.h") {
                EXPECT_TRUE(startsWith(file.path, "core/store/")) << edge;
            }
            if (include == "qcustomplot.h") {
                EXPECT_TRUE(startsWith(file.path, "app/studio/plots/")) << edge;
            }
            if (isQt(include)) {
                EXPECT_TRUE(startsWith(file.path, "app/studio/")) << edge;
            }
            if (startsWith(include, "nlohmann/")) {
                EXPECT_FALSE(header) << edge << "; JSON stays in .cpp files";
            }
            if (include == "cblas.h") {
                EXPECT_EQ(topFolder(file.path), "kernels") << edge;
            }
        }
    }
}

TEST(Layers, EveryFileNamesItsLicenceAndEveryHeaderIsGuarded) {
    for (const SourceFile& file : sourceFiles()) {
        ASSERT_FALSE(file.lines.empty()) << file.path;
        const bool studio =
            startsWith(file.path, "app/studio/") || startsWith(file.path, "tests/app/studio/");
        EXPECT_EQ(file.lines[0], studio ? "// SPDX-License-Identifier: GPL-3.0-or-later"
                                        : "// SPDX-License-Identifier: Apache-2.0")
            << file.path;
        if (file.path.ends_with(".h")) {
            EXPECT_THAT(file.lines, testing::Contains("#pragma once")) << file.path;
        }
    }
}

}  // namespace
}  // namespace ballast::lint
