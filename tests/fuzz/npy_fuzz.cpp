// SPDX-License-Identifier: Apache-2.0
#include "core/workload/npy_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    return ballast::readOrRefuse([&] {
        const ballast::NpyTable table(bytes, "input.npy");
        for (std::int64_t index = 0; index < table.size(); ++index)
            table.at(index);
    });
}
