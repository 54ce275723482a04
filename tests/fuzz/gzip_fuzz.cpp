// SPDX-License-Identifier: Apache-2.0
#include "core/workload/text_source.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return ballast::readOrRefuse([&] {
        ballast::decompress(ballast::asText(data, size), ballast::Compression::Gzip, "input.gz",
                            [](std::string_view) {});
    });
}
