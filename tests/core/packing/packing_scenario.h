// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "packing_setup.h"

namespace ballast::testing {

/// What a step should look like: lengths of each micro-batch in (dp, index) order, and of what waits after
/// it.
struct ExpectedStep {
    std::vector<std::vector<std::int64_t>> microBatches;
    std::vector<std::int64_t> waiting;
};

/// One scenario of tests/scenarios/packing.txt: input and expected picture as tests/scenarios/README.md
/// describes them.
struct PackingScenario {
    std::string title;
    int line = 0;  ///< of the title, for messages
    std::vector<std::int64_t> lengths;
    PackingCase packingCase;
    bool firstStepOnly = false;
    std::vector<ExpectedStep> steps;
};

/// Throws std::runtime_error with file and line for anything it does not know.
std::vector<PackingScenario> readPackingScenarios(const std::filesystem::path& file);

}  // namespace ballast::testing
