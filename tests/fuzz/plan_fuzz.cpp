// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::filesystem::path file = ballast::asFile("plan", data, size);
    ballast::looksLikePlan(file);
    ballast::readOrRefuse([&] {
        ballast::PlanReader reader(file);
        while (reader.next()) {
        }
        reader.discards();
    });
    std::filesystem::remove(file);
    return 0;
}
