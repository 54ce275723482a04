// SPDX-License-Identifier: Apache-2.0
#include "core/workload/csv_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = ballast::asText(data, size);
    for (const char separator : {',', '\t'}) {
        for (const std::string_view column : {"", "tokens", "2"})
            ballast::readOrRefuse([&] { ballast::parseCsvLengths(text, separator, column, "input.csv"); });
    }
    return 0;
}
