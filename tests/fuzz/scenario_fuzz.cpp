// SPDX-License-Identifier: Apache-2.0
#include "core/job/scenario.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ballast::asText(data, size);
    return ballast::readOrRefuse([&] {
        const ballast::Scenario scenario = ballast::parseScenario(text, "input.json");
        if (ballast::parseScenario(ballast::scenarioJson(scenario), "again.json") != scenario)
            std::abort();
    });
}
