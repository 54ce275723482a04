// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ballast::lint {

/// One of our source files; `path` from the project root with forward slashes.
struct SourceFile {
    std::string path;
    std::vector<std::string> lines;
};

/// Every .h and .cpp under core, kernels, backend, app and tests, in path order.
std::vector<SourceFile> sourceFiles();

/// The paths between quotes of its #include lines.
std::vector<std::string> quotedIncludes(const SourceFile& file);
/// The paths between angle brackets of its #include lines.
std::vector<std::string> angleIncludes(const SourceFile& file);

/// "core" of "core/packing/packer.h"; "packing" as the second part, empty when there is none.
std::string topFolder(const std::string& path);
std::string moduleFolder(const std::string& path);

}  // namespace ballast::lint
