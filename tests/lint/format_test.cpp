// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/lint/source_tree.h"

namespace ballast::lint {
namespace {

TEST(Format, EveryFileIsAsClangFormatWritesIt) {
    ASSERT_EQ(std::system("clang-format --version > /dev/null"), 0)
        << "clang-format is missing; resources/scripts/setup installs it";
    std::string command = "cd '" BALLAST_SOURCE_DIR "' && clang-format --dry-run -Werror";
    for (const SourceFile& file : sourceFiles())
        command += " " + file.path;
    EXPECT_EQ(std::system(command.c_str()), 0) << "run clang-format -i on the files named above";
}

}  // namespace
}  // namespace ballast::lint
