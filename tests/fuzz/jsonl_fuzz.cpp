// SPDX-License-Identifier: Apache-2.0
#include "core/workload/jsonl_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ballast::asText(data, size);
    for (const std::string_view field : {"", "text"})
        ballast::readOrRefuse([&] { ballast::parseJsonLengths(text, field, "input.jsonl"); });
    return 0;
}
