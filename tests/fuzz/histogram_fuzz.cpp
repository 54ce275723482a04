// SPDX-License-Identifier: Apache-2.0
#include "core/workload/csv_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return ballast::readOrRefuse(
        [&] { ballast::parseHistogram(ballast::asText(data, size), ',', "input.csv"); });
}
