// SPDX-License-Identifier: Apache-2.0
#include "core/timeline/span_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::filesystem::path file = ballast::asFile("spool", data, size);
    ballast::readOrRefuse([&] {
        ballast::SpoolReader reader(file, 0);
        while (reader.next()) {
        }
        reader.hasTornTail();
    });
    std::filesystem::remove(file);
    return 0;
}
