// SPDX-License-Identifier: Apache-2.0
#include "core/base/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "tests/support/temporary_directory.h"

namespace ballast {
namespace {

TEST(TextFile, ReadsBackEveryByteThatWasWritten) {
    const testing::TemporaryDirectory folder;
    std::string text;
    for (int i = 0; i < 100000; ++i)
        text.push_back(static_cast<char>(i));
    writeTextFile(folder / "a.txt", text);
    EXPECT_EQ(readTextFile(folder / "a.txt"), text);
    writeTextFile(folder / "a.txt", "");
    EXPECT_EQ(readTextFile(folder / "a.txt"), "");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
        << "no temporary file is left beside it";
}

TEST(TextFile, NamesTheFileThatCannotBeRead) {
    const testing::TemporaryDirectory folder;
    const auto sentenceOf = [](const std::filesystem::path& file, std::int64_t most) {
        try {
            readTextFile(file, most);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_THAT(sentenceOf(folder / "none", 10), ::testing::HasSubstr("none: no such file"));
    EXPECT_THAT(sentenceOf(folder.path(), 10), ::testing::HasSubstr("expected a regular file"));
    const auto large = folder.write("large", "12345678901");
    EXPECT_THAT(sentenceOf(large, 10), ::testing::HasSubstr("larger than the 10 bytes"));
}

TEST(TextFile, IsWrittenOverARegularFileAndOverNothingElse) {
    const testing::TemporaryDirectory folder;
    std::filesystem::create_directory(folder / "folder");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    for (const char* name : {"folder", "pipe", "missing/a.txt"}) {
        try {
            writeTextFile(folder / name, "x");
            FAIL() << "expected an error for " << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::BadInput);
            EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string(name) + ": cannot be written"));
        }
    }
    EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
    const auto file = folder.write("a.txt", "old");
    writeTextFile(file, "new");
    EXPECT_EQ(readTextFile(file), "new");
}

}  // namespace
}  // namespace ballast
