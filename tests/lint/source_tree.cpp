// SPDX-License-Identifier: Apache-2.0
#include "tests/lint/source_tree.h"

#include <algorithm>
#include <fstream>
#include <regex>

namespace ballast::lint {
namespace {

std::vector<std::string> linesOf(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::vector<std::string> includes(const SourceFile& file, const std::regex& pattern) {
    std::vector<std::string> found;
    for (const std::string& line : file.lines) {
        std::smatch match;
        if (std::regex_search(line, match, pattern))
            found.push_back(match[1]);
    }
    return found;
}

}  // namespace

std::vector<SourceFile> sourceFiles() {
    const std::filesystem::path root(BALLAST_SOURCE_DIR);
    std::vector<SourceFile> files;
    for (const char* folder : {"core", "kernels", "backend", "app", "tests"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp"))
                files.push_back(
                    {entry.path().lexically_relative(root).generic_string(), linesOf(entry.path())});
        }
    }
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

std::vector<std::string> quotedIncludes(const SourceFile& file) {
    static const std::regex pattern("^\\s*#\\s*include\\s+\"([^\"]+)\"");
    return includes(file, pattern);
}

std::vector<std::string> angleIncludes(const SourceFile& file) {
    static const std::regex pattern("^\\s*#\\s*include\\s+<([^>]+)>");
    return includes(file, pattern);
}

std::string topFolder(const std::string& path) {
    return path.substr(0, path.find('/'));
}

std::string moduleFolder(const std::string& path) {
    const std::size_t first = path.find('/');
    const std::size_t second = first == std::string::npos ? first : path.find('/', first + 1);
    return second == std::string::npos ? std::string() : path.substr(first + 1, second - first - 1);
}

}  // namespace ballast::lint
