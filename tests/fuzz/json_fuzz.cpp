// SPDX-License-Identifier: Apache-2.0
#include "core/workload/jsonl_reader.h"
#include "core/workload/length_preset.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ballast::readOrRefuse([&] { ballast::parseJsonArray(ballast::asText(data, size), "input.json"); });
    return ballast::readOrRefuse([&] {
        const ballast::LengthPreset preset(ballast::asText(data, size), "input.json", 1);
        for (std::int64_t document = 0; document < 100; ++document)
            preset.length(document);
    });
}
