// SPDX-License-Identifier: Apache-2.0
#include "core/dispatch/scratch_folder.h"

#include <stdlib.h>

namespace ballast {
namespace {

constexpr const char* kPrefix = "ballast-run-";

std::filesystem::path linkOf(const RunDirectory& directory) {
    return directory.path() / "scratch";
}

}  // namespace

std::vector<std::string> makeScratchFolder(const RunDirectory& directory) {
    removeScratchFolder(directory);
    std::error_code problem;
    for (const std::filesystem::path& base :
         {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(problem)}) {
        std::string pattern = (base / kPrefix).string() + "XXXXXX";
        if (!::mkdtemp(pattern.data()))
            continue;
        std::filesystem::create_symlink(pattern, linkOf(directory), problem);
        return {"OMPI_MCA_orte_tmpdir_base=" + pattern, "OMPI_MCA_btl_vader_backing_directory=" + pattern};
    }
    return {};
}

void removeScratchFolder(const RunDirectory& directory) {
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::read_symlink(linkOf(directory), problem);
    // The link is a file that anyone may have changed: nothing but a folder of ours is removed.
    if (!problem && folder.filename().string().starts_with(kPrefix))
        std::filesystem::remove_all(folder, problem);
    std::filesystem::remove(linkOf(directory), problem);
}

}  // namespace ballast
